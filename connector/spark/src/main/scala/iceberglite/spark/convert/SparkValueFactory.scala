package iceberglite.spark.convert

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}

import iceberglite.spec.partition.ValueFactory
import iceberglite.spec.types.{Literal, LiteralConversion, PrimitiveType}
import iceberglite.spec.types.Type.{ListType, MapType, StructType}

/**
 * Builds values in Spark's internal format, with the Spark types that [[SparkTypes]] returns. `None` represents null.
 */
object SparkValueFactory extends ValueFactory[Option[Any]] {
  override def nullValue: Option[Any] = None

  /** Converts a value that was written with an earlier type of the column to the current type. */
  override def primitive(value: Literal, t: PrimitiveType): Option[Any] =
    Some(SparkValues.toSpark(LiteralConversion.to(value, t).getOrElse(value), t))

  override def struct(values: Vector[Option[Any]], t: StructType): Option[Any] =
    Some(new GenericInternalRow(values.map(_.orNull).toArray))

  override def list(elements: Vector[Option[Any]], t: ListType): Option[Any] = Some(array(elements))

  override def map(entries: Vector[(Option[Any], Option[Any])], t: MapType): Option[Any] =
    Some(new ArrayBasedMapData(array(entries.map(_._1)), array(entries.map(_._2))))

  private def array(elements: Vector[Option[Any]]): GenericArrayData =
    new GenericArrayData(elements.map(_.orNull).toArray)
}
