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

import iceberglite.spec.schema.DeclaredType
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType}

/**
 * Keeps the declared types `CHAR` and `VARCHAR` of columns, although tables store their values as strings. A declared
 * type is stored in a table property as a [[DeclaredType]]. The connector reports the declared type to Spark, which
 * pads and compares values and checks their lengths.
 */
object DeclaredTypes {

  /**
   * Returns the declared types of columns and nested fields as table properties. The keys contain the field ids.
   *
   * @param columns the columns as declared in Spark
   * @param fields the same columns as columns of the table, with field ids
   */
  def properties(columns: SparkStruct, fields: Vector[NestedField]): Map[String, String] =
    columns.fields.toVector.zip(fields).flatMap { case (column, field) =>
      declaredTypes(column.dataType, field, Vector(field.name))
    }.map { case (field, _, text) => DeclaredType.key(field.id) -> text }.toMap

  /** Returns the CHAR and VARCHAR parts of a column: their paths relative to the column, and their declared types. */
  def parts(dataType: DataType, column: NestedField): Vector[(Vector[String], String)] =
    declaredTypes(dataType, column, Vector.empty).map { case (_, path, text) => path -> text }

  /** Returns a type as the text that is stored in the table property; absent if the type is not CHAR or VARCHAR. */
  def text(dataType: DataType): Option[String] = dataType match {
    case CharType(_) | VarcharType(_) => Some(dataType.catalogString)
    case _ => None
  }

  /**
   * Returns the declared length of a field that is declared as CHAR; absent for other fields. Spark pads the values of
   * the field with spaces to this length.
   */
  def charLength(fieldId: Int, properties: Map[String, String]): Option[Int] =
    DeclaredType.of(fieldId, properties).flatMap(parse).collect { case CharType(length) => length }

  private def declaredTypes(
      t: DataType,
      field: NestedField,
      path: Vector[String]
  ): Vector[(NestedField, Vector[String], String)] = {
    def nested(part: DataType, f: NestedField) = declaredTypes(part, f, path :+ f.name)
    (t, field.fieldType) match {
      case (struct: SparkStruct, StructType(fields)) =>
        struct.fields.toVector.zip(fields).flatMap { case (column, f) => nested(column.dataType, f) }
      case (ArrayType(element, _), list: ListType) => nested(element, list.elementField)
      case (SparkMap(key, value, _), map: MapType) => nested(key, map.keyField) ++ nested(value, map.valueField)
      case _ => text(t).map((field, path, _)).toVector
    }
  }

  /**
   * Returns columns with the types that the table's properties declare. A property that Spark cannot parse is ignored,
   * because any engine may have written it.
   *
   * @param columns the columns of `fields`, possibly followed by other columns
   */
  def withDeclaredTypes(
      columns: SparkStruct,
      fields: Vector[NestedField],
      properties: Map[String, String]
  ): SparkStruct =
    if (!properties.keysIterator.exists(DeclaredType.isKey)) columns
    else {
      val tableColumns = columns.fields.zip(fields).map { case (column, f) =>
        column.copy(dataType = withDeclaredTypes(column.dataType, f, properties))
      }
      SparkStruct(tableColumns ++ columns.fields.drop(fields.size))
    }

  private def withDeclaredTypes(dataType: DataType, field: NestedField, properties: Map[String, String]): DataType = {
    def part(t: DataType, f: NestedField): DataType = withDeclaredTypes(t, f, properties)
    (dataType, field.fieldType) match {
      case (struct: SparkStruct, StructType(fields)) => withDeclaredTypes(struct, fields, properties)
      case (ArrayType(element, nulls), list: ListType) => ArrayType(part(element, list.elementField), nulls)
      case (SparkMap(key, value, nulls), map: MapType) =>
        SparkMap(part(key, map.keyField), part(value, map.valueField), nulls)
      case (SparkString, Type.StringType) => DeclaredType.of(field.id, properties).flatMap(parse).getOrElse(dataType)
      case _ => dataType
    }
  }

  private def parse(text: String): Option[DataType] =
    Try(CatalystSqlParser.parseDataType(text)).toOption.filter(this.text(_).isDefined)
}
