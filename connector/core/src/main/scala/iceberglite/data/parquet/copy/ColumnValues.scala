package iceberglite.data.parquet.copy

import org.apache.parquet.column.{ColumnReader, ColumnWriter}
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

import iceberglite.metrics.{CollectedValues, DoubleCollector, FloatCollector, SpatialCollector}

/** Passes the values of a column from a reader to a writer, without boxing them. */
abstract private[copy] class ColumnValues {

  /** Copies the current value, which is not null. */
  def copy(from: ColumnReader, to: ColumnWriter, repetition: Int, definition: Int): Unit

  /** The metrics of a [[CountedColumn]]; absent for other columns. */
  def collected: Option[CollectedValues] = None
}

/**
 * The values of a floating point column or a column of geometries. Each value is read, because the footer of a Parquet
 * file has no NaN count and no reliable bounds for such a column; see [[CollectedValues]].
 */
abstract private[copy] class CountedColumn extends ColumnValues {

  /** Adds the current value to the metrics. */
  def count(from: ColumnReader): Unit
}

private[copy] object ColumnValues {

  /** @param collector collects the bounds, if it is a column of geometries */
  def of(leaf: PrimitiveType, collector: Option[SpatialCollector]): ColumnValues = leaf.getPrimitiveTypeName match {
    case BINARY if collector.isDefined => new Geometries(collector.get)
    case BOOLEAN => Booleans
    case INT32 => Ints
    case INT64 => Longs
    case FLOAT => new Floats
    case DOUBLE => new Doubles
    case BINARY | FIXED_LEN_BYTE_ARRAY | INT96 => Binaries
  }

  private object Booleans extends ColumnValues {
    override def copy(from: ColumnReader, to: ColumnWriter, repetition: Int, definition: Int): Unit =
      to.write(from.getBoolean, repetition, definition)
  }

  private object Ints extends ColumnValues {
    override def copy(from: ColumnReader, to: ColumnWriter, repetition: Int, definition: Int): Unit =
      to.write(from.getInteger, repetition, definition)
  }

  private object Longs extends ColumnValues {
    override def copy(from: ColumnReader, to: ColumnWriter, repetition: Int, definition: Int): Unit =
      to.write(from.getLong, repetition, definition)
  }

  final private class Floats extends CountedColumn {
    private val range = new FloatCollector
    override def copy(from: ColumnReader, to: ColumnWriter, repetition: Int, definition: Int): Unit = {
      val value = from.getFloat
      range.add(value)
      to.write(value, repetition, definition)
    }
    override def count(from: ColumnReader): Unit = range.add(from.getFloat)
    override def collected: Option[CollectedValues] = Some(range.values)
  }

  final private class Doubles extends CountedColumn {
    private val range = new DoubleCollector
    override def copy(from: ColumnReader, to: ColumnWriter, repetition: Int, definition: Int): Unit = {
      val value = from.getDouble
      range.add(value)
      to.write(value, repetition, definition)
    }
    override def count(from: ColumnReader): Unit = range.add(from.getDouble)
    override def collected: Option[CollectedValues] = Some(range.values)
  }

  final private class Geometries(collector: SpatialCollector) extends CountedColumn {
    override def copy(from: ColumnReader, to: ColumnWriter, repetition: Int, definition: Int): Unit = {
      count(from)
      Binaries.copy(from, to, repetition, definition)
    }
    override def count(from: ColumnReader): Unit = collector.addStored(from.getBinary.toByteBuffer)
    override def collected: Option[CollectedValues] = Some(collector.values)
  }

  private object Binaries extends ColumnValues {
    // The value is a part of its page. It is passed as a reused value, so that a dictionary copies it and does not
    // keep the page in memory.
    override def copy(from: ColumnReader, to: ColumnWriter, repetition: Int, definition: Int): Unit =
      to.write(Binary.fromReusedByteBuffer(from.getBinary.toByteBuffer), repetition, definition)
  }
}
