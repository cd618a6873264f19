package iceberglite.spark.convert

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Literal => SparkLiteral}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{OneRowRelation, Project}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData, ResolveDefaultColumns}
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns.CURRENT_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.types.{DataType, MetadataBuilder, StructField}

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.ColumnSource
import iceberglite.spec.types.{DefaultValue, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.DefaultValue._
import iceberglite.spec.types.Type._

/** Converts column defaults between SQL expressions in Spark and values in the table's schema. */
object SparkDefaults {

  /**
   * The metadata key that marks a column whose default comes from an existing table. Spark passes column metadata
   * through queries, so a CREATE TABLE AS SELECT receives the defaults of its source columns. Marked defaults are
   * ignored, because they do not apply to the new table.
   */
  private val DefaultOfTable = "iceberg-lite.default-of-a-table"

  /**
   * Adds the write default of a column to the metadata of its Spark field. Spark uses this default for the keyword
   * DEFAULT.
   */
  def withWriteDefault(field: StructField, column: NestedField): StructField = column.writeDefault.fold(field) { _ =>
    val sql = SparkLiteral(writeValue(column).orNull, field.dataType).sql
    val metadata = new MetadataBuilder().withMetadata(field.metadata)
      .putString(CURRENT_DEFAULT_COLUMN_METADATA_KEY, sql)
      .putBoolean(DefaultOfTable, true)
    field.copy(metadata = metadata.build())
  }

  /**
   * Returns the value that a write stores in a column that the written rows do not have. The value is in Spark's
   * internal format; `None` means null.
   *
   * @throws InvalidArgument if the default is a struct with a required field without a default
   */
  def writeValue(column: NestedField): Option[Any] =
    column.writeDefault.flatMap(_ =>
      ColumnSource.valueOf[Option[Any]](forWriting(column), _ => None, SparkValueFactory) match {
        case Right(value) => value
        case Left(path) => throw InvalidArgument(
            s"default of column ${column.name}",
            "{}",
            s"The field ${path.mkString(".")} of the struct is NOT NULL and has no default"
          )
      }
    )

  /**
   * Returns the field with its write default as its initial default, because [[ColumnSource]] computes values from
   * initial defaults.
   */
  private def forWriting(f: NestedField): NestedField = f.copy(
    initialDefault = f.writeDefault,
    fieldType = f.fieldType match {
      case StructType(fields) => StructType(fields.map(forWriting))
      case list: ListType => list.copy(element = forWriting(list.elementField).fieldType)
      case map: MapType =>
        map.copy(key = forWriting(map.keyField).fieldType, value = forWriting(map.valueField).fieldType)
      case primitive: PrimitiveType => primitive
    }
  )

  /**
   * Returns the default in the definition of a new column. `None` means that there is no default, or that the default
   * is null.
   */
  def declared(field: StructField, t: Type): Option[DefaultValue] =
    if (field.metadata.contains(DefaultOfTable)) None
    else field.getCurrentDefaultValue().flatMap(of(_, field.name, field.dataType, t, "CREATE TABLE"))

  /**
   * Returns the value of a default expression.
   *
   * @param name the name of the column
   * @param dataType the type of the column in Spark
   * @param t the type of the column in the table
   * @param statement the kind of statement, for messages
   * @return `None` for null
   * @throws InvalidArgument if the expression has no constant value of the type
   */
  def of(sql: String, name: String, dataType: DataType, t: Type, statement: String): Option[DefaultValue] = {
    def reject(reason: String): Nothing = throw InvalidArgument(s"default of column $name", sql, reason)
    if (isVariable(sql, name)) {
      reject(
        "The value of the expression can differ between evaluations, but a default must be constant. Use a constant " +
          "default, or write the values with the rows"
      )
    }
    val value = ResolveDefaultColumns.analyze(name, dataType, sql, statement).eval()
    Option(value).map(valueOf(_, t).fold(reject, identity))
  }

  /**
   * Whether the value of a default expression can differ between evaluations. Such a default is rejected, because Spark
   * would replace the expression with its value at the time of the statement.
   */
  private def isVariable(sql: String, name: String): Boolean = scala.util.Try {
    val expression = CatalystSqlParser.parseExpression(sql)
    val plan = Project(Seq(Alias(expression, name)()), OneRowRelation())
    ResolveDefaultColumns.DefaultColumnAnalyzer.execute(plan).expressions
      .exists(e => e.containsPattern(CURRENT_LIKE) || !e.deterministic)
  }.getOrElse(false)

  private def valueOf(value: Any, t: Type): Either[String, DefaultValue] = (t, value) match {
    case (primitive: PrimitiveType, v) => SparkValues.fromSpark(v, primitive).map(OfPrimitive).toRight(noValue(t))
    case (list: ListType, array: ArrayData) =>
      elements(array, list.elementField).map(OfList)
    case (map: MapType, data: MapData) =>
      for {
        keys <- elements(data.keyArray(), map.keyField)
        values <- elements(data.valueArray(), map.valueField)
      } yield OfMap(keys.flatten.zip(values))
    case (struct: StructType, row: InternalRow)
        if (0 until row.numFields).forall(row.isNullAt) &&
          struct.fields.forall(_.writeDefault.isEmpty) => Right(EmptyStruct)
    case (_: StructType, _) => Left(
        "The default of a struct must be null or have only null fields. Set defaults for the fields instead"
      )
    case _ => Left(noValue(t))
  }

  private def noValue(t: Type): String = t match {
    case UuidType => "It must be a UUID such as f79c3e09-677c-4bbd-a479-3f349cb785e7, in lower case"
    case VariantType | _: GeometryType | _: GeographyType => s"The default of type $t must be null"
    case _ => s"It is not a value of type $t"
  }

  private def elements(array: ArrayData, part: NestedField): Either[String, Vector[Option[DefaultValue]]] = {
    val values = array.toObjectArray(SparkTypes.toSpark(part.fieldType)).toVector
    values.foldLeft[Either[String, Vector[Option[DefaultValue]]]](Right(Vector.empty)) {
      case (converted, null) => converted.map(_ :+ None)
      case (converted, v) => for (before <- converted; next <- valueOf(v, part.fieldType)) yield before :+ Some(next)
    }
  }
}
