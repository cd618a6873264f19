package iceberglite.spark.write

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.metrics.SpatialCollector
import iceberglite.spark.write.files.{InputField, InputSource}
import iceberglite.spec.schema.MetadataColumns.RowId
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type.{ListType, MapType, StructType}

/**
 * Checks the geometries of new rows in a write that also copies rows of existing files. In other writes, the writers of
 * the files check all geometries. In such a write, they cannot check all geometries, because a copied row may have a
 * value that is not WKB and that another program has written.
 *
 * @param rowId the index of the row id, which copied rows have and new rows do not have; -1 if all rows are checked
 */
final private[write] class GeometryCheck private (fields: Vector[InputField], rowId: Int) {
  import GeometryCheck._

  private val checked = fields.filter(hasGeometries).toArray

  /** @throws iceberglite.spec.IcebergError.InvalidArgument if a geometry of a new row is not WKB */
  def require(row: InternalRow): Unit =
    if (rowId < 0 || row.isNullAt(rowId)) checked.foreach(f => check(row, f.ordinal, f, f.field.name))

  private def check(values: SpecializedGetters, ordinal: Int, f: InputField, name: String): Unit =
    if (!values.isNullAt(ordinal)) f.field.fieldType match {
      case t: PrimitiveType =>
        if (SpatialCollector.isSpatial(t)) SpatialCollector.check(ByteBuffer.wrap(values.getBinary(ordinal)), name)
      case _: StructType =>
        val struct = values.getStruct(ordinal, f.size)
        f.parts.filter(hasGeometries).foreach(p => check(struct, p.ordinal, p, s"$name.${p.field.name}"))
      case _: ListType => checkAll(values.getArray(ordinal), f.parts.head, name)
      case _: MapType =>
        val map = values.getMap(ordinal)
        checkAll(map.keyArray(), f.parts.head, name)
        checkAll(map.valueArray(), f.parts.last, name)
    }

  private def checkAll(values: org.apache.spark.sql.catalyst.util.ArrayData, part: InputField, name: String): Unit =
    if (hasGeometries(part)) for (i <- 0 until values.numElements()) check(values, i, part, s"$name.${part.field.name}")
}

private[write] object GeometryCheck {

  /** Returns the check; absent if the rows have no geometries, or if the writers of the files check them. */
  def of(rows: RowsToWrite): Option[GeometryCheck] = {
    val unchecked = rows.input.filter(f => hasGeometries(f) && !f.checksGeometries)
    // The rows of an overwrite have no change column.
    val rowId = if (rows.changeColumnIndex.isDefined) None else rows.input.find(_.field.id == RowId.id).map(_.ordinal)
    if (unchecked.isEmpty) None else Some(new GeometryCheck(unchecked, rowId.getOrElse(-1)))
  }

  /** Whether the rows contain geometries in a field or in its parts. */
  private def hasGeometries(f: InputField): Boolean = f.isStored && (f.source match {
    case InputSource.Rows(_) => isSpatial(f) || f.parts.exists(hasGeometries)
    case InputSource.Constant(_) => false
  })

  private def isSpatial(f: InputField): Boolean = f.field.fieldType match {
    case t: PrimitiveType => SpatialCollector.isSpatial(t)
    case _ => false
  }
}
