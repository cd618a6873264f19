package iceberglite.spark.write.upsert

import org.apache.spark.sql.connector.distributions.{ClusteredDistribution, Distributions}
import org.apache.spark.sql.connector.expressions.{
  Expression => SparkExpression,
  Expressions,
  NullOrdering,
  SortDirection,
  SortOrder
}

import iceberglite.spark.convert.{DeclaredTypes, PartitionTerm}
import iceberglite.spark.write.files.{InputField, InputSource}
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.partition.Identity
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type._
import iceberglite.table.Table

/**
 * The key of an upsert: the columns that identify rows, in the order of their field ids.
 *
 * @param schema the schema of the table
 * @param fields the key columns, which may be fields of structs
 */
final private[upsert] case class UpsertKey(schema: Schema, fields: Vector[NestedField]) {
  val ids: Vector[Int] = fields.map(_.id)

  private def terms: Array[SparkExpression] =
    ids.map(id => PartitionTerm(schema.paths(id), Identity).sparkTransform: SparkExpression).toArray

  /** Returns the distribution that sends all rows with the same key to the same task. */
  def distribution: ClusteredDistribution = Distributions.clustered(terms)

  /** Returns the order by key, in which rows with the same key are next to each other. */
  def ordering: Array[SortOrder] =
    terms.map(Expressions.sort(_, SortDirection.ASCENDING, NullOrdering.NULLS_FIRST))

  /**
   * Returns the key columns among the columns of the rows.
   *
   * @throws NotFound if a key column is missing from the rows
   */
  def selectFrom(input: Vector[InputField]): Vector[InputField] = {
    val keyInput = keyParts(input)
    def idsIn(fields: Vector[InputField]): Vector[Int] = fields.flatMap(f => f.field.id +: idsIn(f.parts))
    fields.find(f => !idsIn(keyInput).contains(f.id)).foreach { f =>
      throw NotFound(ObjectKind.Column, schema.names(f.id), "It is a key column of the upsert: add it to the rows")
    }
    keyInput
  }

  private def keyParts(input: Vector[InputField]): Vector[InputField] = input.flatMap { f =>
    val isInRows = f.source.isInstanceOf[InputSource.Rows]
    if (ids.contains(f.field.id)) Some(f).filter(_ => isInRows)
    else f.field.fieldType match {
      case _: StructType if isInRows =>
        val parts = keyParts(f.parts)
        if (parts.isEmpty) None
        else Some(f.copy(field = f.field.copy(fieldType = StructType(parts.map(_.field))), parts = parts))
      case _ => None
    }
  }

  /**
   * Returns the positions of the key columns in the rows.
   *
   * @param keyInput the result of [[selectFrom]]
   */
  def columns(keyInput: Vector[InputField], properties: Map[String, String]): Vector[UpsertKeyColumn] = {
    def walk(fields: Vector[InputField], parents: Vector[Int]): Vector[(Int, Vector[Int])] =
      fields.flatMap(f => (f.field.id -> (parents :+ f.ordinal)) +: walk(f.parts, parents :+ f.ordinal))
    val ordinals = walk(keyInput, Vector.empty).toMap
    fields.map(f => UpsertKeyColumn(schema.names(f.id), ordinals(f.id), requiredForm(f, properties)))
  }

  private def requiredForm(field: NestedField, properties: Map[String, String]): Option[KeyTextForm] =
    field.fieldType match {
      case UuidType => Some(KeyTextForm.LowerCase)
      case StringType => DeclaredTypes.charLength(field.id, properties).map(KeyTextForm.Padded)
      case _ => None
    }

  def names: Vector[String] = ids.map(schema.names)
}

private[upsert] object UpsertKey {

  /**
   * Returns the key of an upsert.
   *
   * @param names the names of the key columns; if absent, the table's identifier fields are the key
   * @throws iceberglite.spec.IcebergError if the columns cannot identify rows
   */
  def of(table: Table, names: Option[Seq[String]], caseSensitive: Boolean): UpsertKey = {
    val schema = table.schema
    val fields = names match {
      case Some(columns) => columns.toVector.map(schema.require(_, caseSensitive))
      case None if schema.identifierFieldIds.nonEmpty => schema.identifierFieldIds.toVector.map(schema.byId)
      case None => throw InvalidArgument(
          "write option upsert",
          "true",
          s"${table.name} has no identifier fields: set the option upsert-keys, or run ALTER TABLE ... " +
            "SET IDENTIFIER FIELDS"
        )
    }
    fields.foreach(check(schema, _))
    UpsertKey(schema, fields.distinct.sortBy(_.id))
  }

  private def check(schema: Schema, field: NestedField): Unit = {
    def reject(reason: String): Nothing =
      throw InvalidArgument("key of an upsert", schema.names(field.id), s"$reason. Choose another column")
    schema.ancestors(field.id).map(_.fieldType).foreach {
      case _: StructType => ()
      case _ => reject("It is inside a list or map, which can hold several values per row")
    }
    field.fieldType match {
      case FloatType | DoubleType => reject(s"Equality deletes cannot use a column of type ${field.fieldType}")
      case VariantType | UnknownType | GeometryType(_) | GeographyType(_, _) | _: StructType | _: ListType |
          _: MapType =>
        reject(s"Values of type ${field.fieldType} cannot be compared")
      case _ => ()
    }
  }
}
