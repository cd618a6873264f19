package iceberglite.spark.convert

import scala.util.Try

import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.types.{
  ArrayType,
  CharType,
  DataType,
  MapType => SparkMap,
  StringType => SparkString,
  StructType => SparkStruct,
  VarcharType
}

import iceberglite.spec.Type.{ListType, MapType, StructType}
import iceberglite.spec.{DeclaredType, NestedField, Type}

/**
 * `CHAR` and `VARCHAR`, which tables keep as strings: what a statement declares stays beside the schema as a
 * [[DeclaredType]]. Spark, which is told of it again, pads, compares and checks lengths by itself.
 */
object DeclaredTypes {

  /** What columns declare, at every depth, as properties by field id. @param fields the columns of the table */
  def properties(columns: SparkStruct, fields: Vector[NestedField]): Map[String, String] =
    columns.fields.toVector.zip(fields).flatMap { case (column, field) =>
      declared(column.dataType, field, Vector(field.name))
    }.map { case (field, _, text) => DeclaredType.key(field.id) -> text }.toMap

  /** What one column declares: the way to each declared part, from the column on, and its type. */
  def parts(dataType: DataType, column: NestedField): Vector[(Vector[String], String)] =
    declared(dataType, column, Vector.empty).map { case (_, path, text) => path -> text }

  /** The column's type as a property holds it, if it is one that the table's types lack. */
  def text(dataType: DataType): Option[String] = dataType match {
    case CharType(_) | VarcharType(_) => Some(dataType.catalogString)
    case _ => None
  }

  /** How long the texts of a field are at least, padded by spaces: of one that is declared as CHAR. */
  def charLength(fieldId: Int, properties: Map[String, String]): Option[Int] =
    DeclaredType.of(fieldId, properties).flatMap(parsed).collect { case CharType(length) => length }

  private def declared(
      t: DataType,
      field: NestedField,
      path: Vector[String]
  ): Vector[(NestedField, Vector[String], String)] = {
    def below(part: DataType, f: NestedField) = declared(part, f, path :+ f.name)
    (t, field.fieldType) match {
      case (struct: SparkStruct, StructType(fields)) =>
        struct.fields.toVector.zip(fields).flatMap { case (column, f) => below(column.dataType, f) }
      case (ArrayType(element, _), list: ListType) => below(element, list.elementField)
      case (SparkMap(key, value, _), map: MapType) => below(key, map.keyField) ++ below(value, map.valueField)
      case _ => text(t).map((field, path, _)).toVector
    }
  }

  /**
   * Columns as Spark knows them, with what the table's properties declare of them. A property that says nothing that
   * Spark understands counts for nothing, for anybody may have written it.
   *
   * @param columns those of `fields`, possibly with others behind them
   */
  def shown(columns: SparkStruct, fields: Vector[NestedField], properties: Map[String, String]): SparkStruct =
    if (!properties.keysIterator.exists(DeclaredType.isKey)) columns
    else {
      val own = columns.fields.zip(fields).map { case (column, f) =>
        column.copy(dataType = shown(column.dataType, f, properties))
      }
      SparkStruct(own ++ columns.fields.drop(fields.size))
    }

  private def shown(dataType: DataType, field: NestedField, properties: Map[String, String]): DataType = {
    def part(t: DataType, f: NestedField): DataType = shown(t, f, properties)
    (dataType, field.fieldType) match {
      case (struct: SparkStruct, StructType(fields)) => shown(struct, fields, properties)
      case (ArrayType(element, nulls), list: ListType) => ArrayType(part(element, list.elementField), nulls)
      case (SparkMap(key, value, nulls), map: MapType) =>
        SparkMap(part(key, map.keyField), part(value, map.valueField), nulls)
      case (SparkString, Type.StringType) => DeclaredType.of(field.id, properties).flatMap(parsed).getOrElse(dataType)
      case _ => dataType
    }
  }

  private def parsed(text: String): Option[DataType] =
    Try(CatalystSqlParser.parseDataType(text)).toOption.filter(this.text(_).isDefined)
}
