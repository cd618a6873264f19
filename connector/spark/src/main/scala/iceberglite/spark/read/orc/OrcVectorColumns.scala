package iceberglite.spark.read.orc

import org.apache.hadoop.hive.ql.exec.vector.{ColumnVector => HiveVector, _}
import org.apache.spark.sql.types.BinaryType
import org.apache.spark.sql.vectorized.ColumnVector

import iceberglite.data.FieldSource
import iceberglite.data.orc.{OrcColumn, OrcLeaf}
import iceberglite.spark.convert.{SparkTypes, VariantForm}
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType}

/**
 * Creates the Spark columns that read the vectors of the ORC library. The columns are created once for each file,
 * because the library reuses its vectors.
 *
 * @param positions the positions of rows in the file
 * @param invalidValue creates the error for an invalid value, from the name of the column and the reason
 * @param variants the form in which variants are read
 */
final private[orc] class OrcVectorColumns(
    positions: ColumnVector,
    invalidValue: (String, String) => Throwable,
    variants: VariantForm
) {

  /**
   * Returns the columns of a struct.
   *
   * @param struct the struct in the file, with its fields already matched to the requested fields
   * @param expected the requested fields
   */
  def of(
      struct: OrcColumn.Struct[ColumnVector],
      expected: Vector[NestedField],
      vectors: Array[HiveVector],
      path: Vector[String] = Vector.empty
  ): Vector[ColumnVector] = struct.sources.zip(expected).map {
    case (FieldSource.Stored(i), field) => column(struct.stored(i), field.fieldType, vectors(i), path :+ field.name)
    case (FieldSource.Constant(vector), _) => vector
    case (FieldSource.RowPosition, _) => positions
  }

  private def column(
      node: OrcColumn[ColumnVector],
      expected: Type,
      vector: HiveVector,
      path: Vector[String]
  ): ColumnVector = {
    val dataType = SparkTypes.toSpark(expected)
    val error = invalidValue(path.mkString("."), _)
    (node, expected, vector) match {
      case (OrcColumn.Leaf(kind, _), _, _) => leaf(kind, expected, vector, error)
      case (struct: OrcColumn.Struct[ColumnVector], StructType(fields), v: StructColumnVector) =>
        new OrcStructs(v, of(struct, fields, v.fields, path).toArray, dataType)
      case (OrcColumn.OfList(element), list: ListType, v: ListColumnVector) =>
        new OrcLists(v, column(element, list.element, v.child, path :+ "element"), dataType, error)
      case (OrcColumn.OfMap(key, value), map: MapType, v: MapColumnVector) =>
        val keys = column(key, map.key, v.keys, path :+ "key")
        new OrcMaps(v, keys, column(value, map.value, v.values, path :+ "value"), dataType, error)
      case (OrcColumn.OfVariant(metadata, value, _), _, v: StructColumnVector) =>
        new OrcVariants(v, binary(v.fields(metadata), error), binary(v.fields(value), error), variants, error)
      case (other, _, v) => throw new IllegalStateException(s"$other cannot be read from ${v.getClass.getName}")
    }
  }

  private def binary(vector: HiveVector, error: String => Throwable): ColumnVector =
    new OrcBytes(vector.asInstanceOf[BytesColumnVector], BinaryType, error)

  private def leaf(kind: OrcLeaf, expected: Type, vector: HiveVector, error: String => Throwable): ColumnVector = {
    val dataType = SparkTypes.toSpark(expected)
    (kind, vector) match {
      case (OrcLeaf.Booleans | OrcLeaf.Ints | OrcLeaf.Longs, v: LongColumnVector) => new OrcLongs(v, dataType)
      case (OrcLeaf.Floats | OrcLeaf.Doubles, v: DoubleColumnVector) => new OrcDoubles(v, dataType)
      case (OrcLeaf.Decimals(precision, _), v: Decimal64ColumnVector) =>
        new OrcSmallDecimals(v, largestUnscaled(precision), dataType, error)
      case (_: OrcLeaf.Decimals, v: DecimalColumnVector) => new OrcDecimals(v, dataType, error)
      case (OrcLeaf.Strings | OrcLeaf.Binaries, v: BytesColumnVector) => new OrcBytes(v, dataType, error)
      case (OrcLeaf.Fixed(length), v: BytesColumnVector) => new OrcFixed(v, length, dataType, error)
      case (OrcLeaf.Uuids, v: BytesColumnVector) => new OrcUuids(v, error)
      case (OrcLeaf.Timestamps(units), v: TimestampColumnVector) => new OrcTimestamps(v, units, dataType, error)
      case (OrcLeaf.Days(units), v: LongColumnVector) => new OrcDays(v, units, dataType, error)
      case (other, v) => throw new IllegalStateException(s"$other cannot be read from ${v.getClass.getName}")
    }
  }

  /** Returns the largest long with at most the given number of digits. */
  private def largestUnscaled(digits: Int): Long =
    if (digits > OrcVectorColumns.DigitsOfLong) Long.MaxValue else BigInt(10).pow(digits).toLong - 1
}

private object OrcVectorColumns {
  val DigitsOfLong = 18
}
