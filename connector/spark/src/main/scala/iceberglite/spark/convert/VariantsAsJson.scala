package iceberglite.spark.convert

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow, UnaryExpression}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData, MapData}
import org.apache.spark.sql.types.{ArrayType, DataType, MapType => SparkMap, StructType => SparkStruct}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type._

/**
 * Replaces the variants in a value of a column by JSON text, if they are in the exact form of [[VariantText]].
 *
 * @param columnType the type of the value in the table
 */
final private[iceberglite] case class VariantsAsJson(child: Expression, columnType: Type)
    extends UnaryExpression
    with CodegenFallback {
  override def dataType: DataType = child.dataType

  @transient private lazy val converted: Any => Any = VariantsAsJson.conversion(columnType, child.dataType)

  override protected def nullSafeEval(value: Any): Any = converted(value)

  override def prettyName: String = "variants_as_json"

  /** The name of a column in a result is that of the value. */
  override def sql: String = child.sql

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

private[iceberglite] object VariantsAsJson {

  /** Whether values of a type may contain variants. */
  def isNeeded(t: Type): Boolean = t match {
    case VariantType => true
    case StructType(fields) => fields.exists(f => isNeeded(f.fieldType))
    case list: ListType => isNeeded(list.element)
    case map: MapType => isNeeded(map.key) || isNeeded(map.value)
    case _ => false
  }

  private def conversion(t: Type, dataType: DataType): Any => Any = (t, dataType) match {
    case (VariantType, _) => { case text: UTF8String => VariantText.json(text) }
    case (StructType(fields), struct: SparkStruct) if isNeeded(t) => ofStruct(fields, struct)
    case (list: ListType, ArrayType(element, _)) if isNeeded(t) => ofEntries(list.element, element)
    case (map: MapType, SparkMap(key, value, _)) if isNeeded(t) =>
      val (keys, values) = (ofEntries(map.key, key), ofEntries(map.value, value))
      value => {
        val entries = value.asInstanceOf[MapData]
        new ArrayBasedMapData(keys(entries.keyArray()), values(entries.valueArray()))
      }
    case _ => identity
  }

  private def ofStruct(fields: Vector[NestedField], struct: SparkStruct): Any => Any = {
    val parts = fields.zip(struct.fields).map { case (f, s) => s.dataType -> conversion(f.fieldType, s.dataType) }
    value => {
      val row = value.asInstanceOf[InternalRow]
      new GenericInternalRow(parts.zipWithIndex.map { case ((dataType, converted), i) =>
        if (row.isNullAt(i)) null else converted(row.get(i, dataType))
      }.toArray)
    }
  }

  private def ofEntries(t: Type, dataType: DataType): Any => ArrayData = {
    val converted = conversion(t, dataType)
    value => {
      val entries = value.asInstanceOf[ArrayData]
      new GenericArrayData(Array.tabulate[Any](entries.numElements()) { i =>
        if (entries.isNullAt(i)) null else converted(entries.get(i, dataType))
      })
    }
  }
}
