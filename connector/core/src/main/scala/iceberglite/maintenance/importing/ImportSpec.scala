package iceberglite.maintenance.importing

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple, Void}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField}

/**
 * The partition spec of imported files. Its fields are the partition columns of the source.
 *
 * @param columns the table's columns, by their names in the source
 * @param parse converts the text of a partition value to a value of a column; absent if the text is not valid
 */
final class ImportSpec private (
    val spec: PartitionSpec,
    columns: Map[String, NestedField],
    parse: (NestedField, String) => Option[Literal]
) {

  /**
   * Converts the partition values of a source partition to a partition tuple.
   *
   * @param values the values of all partition columns as text; `None` is null
   * @throws InvalidArgument if a value cannot be parsed as its column's type
   */
  def tuple(values: Vector[(String, Option[String])]): PartitionTuple = {
    val byId = values.map { case (name, text) => columns(name).id -> text.map(valueOf(name, _)) }.toMap
    PartitionTuple(spec.fields.map(f => if (f.transform == Void) None else byId(f.sourceId)))
  }

  private def valueOf(name: String, text: String): Literal = parse(columns(name), text).getOrElse(throw InvalidArgument(
    s"partition column $name of the source",
    text,
    s"It is not a value of the table's column ${columns(name).name}, which has type ${columns(name).fieldType}"
  ))
}

object ImportSpec {

  /**
   * Returns the partition spec of the table that has the partition columns of the source as its fields. If there are
   * several such specs, the current partition spec is preferred.
   *
   * @param names the partition columns of the source; empty for a source without partitions
   * @throws InvalidArgument if the table has no such partition spec, and the current one has only identity and void
   *   transforms
   * @throws Unsupported if there is no such partition spec, and the current one has transforms other than identity and
   *   void, because the rows of a file can have several values of such a transform
   */
  def of(metadata: TableMetadata, names: Vector[String], caseSensitive: Boolean)(
      parse: (NestedField, String) => Option[Literal]
  ): ImportSpec = {
    val columns = names.flatMap(name => metadata.schema.find(name, caseSensitive).map(name -> _)).toMap
    val ids = columns.values.map(_.id).toSet
    def matches(spec: PartitionSpec): Boolean = {
      val fields = fieldsOf(spec)
      fields.forall(_.transform == Identity) && fields.size == names.size && fields.map(_.sourceId).toSet == ids
    }
    val spec = (metadata.spec +: metadata.specs).find(s => columns.size == names.size && matches(s))
    new ImportSpec(spec.getOrElse(fail(metadata, names)), columns, parse)
  }

  private def fieldsOf(spec: PartitionSpec): Vector[PartitionField] = spec.fields.filter(_.transform != Void)

  private def fail(metadata: TableMetadata, names: Vector[String]): Nothing = {
    val fields = fieldsOf(metadata.spec)
    fields.find(_.transform != Identity).foreach { field =>
      throw Unsupported(
        s"adding files to a table with the partition transform ${field.transform} of column " +
          nameOf(metadata.schema, field),
        "The rows of a file can have several values of the transform. Insert the rows with INSERT INTO ... SELECT"
      )
    }
    val expected = fields.map(nameOf(metadata.schema, _))
    val reason = (expected, names) match {
      case (Vector(), _) => "Cannot add partitioned files to an unpartitioned table"
      case (_, Vector()) => s"The table is partitioned by ${expected.mkString(", ")}, but the source has no partitions"
      case _ => s"The table is partitioned by ${expected.mkString(", ")}"
    }
    throw InvalidArgument("the partition columns of the source", names.mkString("[", ", ", "]"), reason)
  }

  private def nameOf(schema: Schema, field: PartitionField): String =
    schema.names.getOrElse(field.sourceId, field.sourceId.toString)
}
