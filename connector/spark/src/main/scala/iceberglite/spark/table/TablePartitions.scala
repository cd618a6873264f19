package iceberglite.spark.table

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import iceberglite.spark.convert.{SparkTypes, SparkValues}
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue}
import iceberglite.spec.file.{Content, ManifestEntry}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.{PartitionField, Void}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}
import iceberglite.table.Table
import iceberglite.table.action.{RowFilter, RowMatch}
import iceberglite.tree.{CloseableIterator, MetadataTree}

/**
 * The partitions of a snapshot by the fields of the current partition spec, for Spark's statements about partitions.
 * Each partition is a row with the values of these fields.
 */
final private[table] class TablePartitions(table: Table, snapshot: Option[Snapshot]) {
  private val metadata = table.metadata

  /** The fields of the current partition spec, with the names and types of their values. */
  private val fields: Vector[(PartitionField, NestedField)] =
    metadata.spec.fields.zip(metadata.spec.partitionType(metadata.schema).fields).filter(_._1.transform != Void)

  val schema: StructType = SparkTypes.toSpark(fields.map(_._2))

  /**
   * Returns the partitions that have the given values. Files of older partition specs that lack a field of the current
   * partition spec are not considered, because such files may have rows of several partitions.
   *
   * @param names the names of the fields with given values
   * @param values the values, in the order of `names`
   */
  def list(names: Seq[String], values: InternalRow): Seq[InternalRow] = {
    val requested = names.zipWithIndex.map { case (name, i) =>
      val field = schema.fieldIndex(name)
      field -> literal(field, values, i)
    }
    val found = liveEntries(new RowFilter(AlwaysTrue, caseSensitive = true, metadata)).flatten.flatMap(valuesOf(_))
      .filter(partition => requested.forall { case (field, value) => value.contains(partition(field)) }).toSet
    found.toVector.map(partition => InternalRow.fromSeq(partition.indices.map(i => sparkValue(i, partition(i)))))
  }

  /**
   * Returns a condition that the rows of a partition satisfy, also in files of older partition specs.
   *
   * @param partition the values of all fields
   */
  def condition(partition: InternalRow): Expression =
    fields.indices.foldLeft[Expression](AlwaysTrue) { (all, i) =>
      val (field, _) = fields(i)
      val term = Term.Transformed(field.transform, Term.Named(metadata.schema.names(field.sourceId)))
      val predicate = literal(i, partition, i) match {
        case None => AlwaysFalse
        case Some(None) => Expression.IsNull(term)
        case Some(Some(value)) => Expression.Equal(term, value)
      }
      Expression.and(all, predicate)
    }

  /** Whether any data file may have rows that satisfy a condition. */
  def mayExist(condition: Expression): Boolean = findFile(condition)(_ != RowMatch.NoRows).isDefined

  /** Returns a file that may have both rows that satisfy a condition and other rows. */
  def partlyMatchingFile(condition: Expression): Option[ManifestEntry] = findFile(condition)(_ == RowMatch.SomeRows)

  /** Returns the first data file for which `accepts` is true, given which of its rows may satisfy a condition. */
  private def findFile(condition: Expression)(accepts: RowMatch => Boolean): Option[ManifestEntry] = {
    val rowFilter = new RowFilter(condition, caseSensitive = true, metadata)
    liveEntries(rowFilter).map(_.find(e => accepts(rowFilter.matches(e)))).collectFirst { case Some(e) => e }
  }

  /** Returns the entries of live data files, for each part of the tree that may list files with matching rows. */
  private def liveEntries(rowFilter: RowFilter): Iterator[CloseableIterator[ManifestEntry]] =
    snapshot.iterator.flatMap { head =>
      val files = MetadataTree.at(head, table.tree())
      files.parts.iterator.filter(rowFilter.mightMatch)
        .map(files.entries(_).filter(e => e.isLive && e.file.content == Content.Data))
    }

  /** Returns a file's values of all fields; absent if its partition spec lacks one of them. */
  private def valuesOf(entry: ManifestEntry): Option[Vector[Option[Literal]]] = {
    val positions = positionsBySpec(entry.file.specId)
    if (positions.contains(-1)) None
    else Some(positions.zipWithIndex.map { case (position, i) =>
      entry.file.partition.values(position).flatMap(v => SparkValues.fromSpark(sparkValue(i, Some(v)), typeOf(i)))
    })
  }

  /** For each partition spec, the position of each field in its tuples; -1 if the partition spec lacks the field. */
  private lazy val positionsBySpec: Map[Int, Vector[Int]] = metadata.specs.map { spec =>
    spec.specId -> fields.map { case (field, _) => spec.fields.indexWhere(_.sameValues(field)) }
  }.toMap

  /** Returns the value of a field; `Some(None)` for null, absent if the field cannot have the value. */
  private def literal(field: Int, row: InternalRow, position: Int): Option[Option[Literal]] =
    if (row.isNullAt(position)) Some(None)
    else SparkValues.fromSpark(row.get(position, schema(field).dataType), typeOf(field)).map(Some(_))

  private def sparkValue(field: Int, value: Option[Literal]): Any =
    value.map(SparkValues.toSpark(_, typeOf(field))).orNull[Any]

  private def typeOf(field: Int): PrimitiveType = fields(field)._2.fieldType match {
    case primitive: PrimitiveType => primitive
    case other => throw new IllegalStateException(s"a partition value has the type $other")
  }
}
