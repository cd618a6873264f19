package iceberglite.spark.write.parquet

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.{VariantNode, VariantShape, WrittenFile}
import iceberglite.spark.convert.VariantText
import iceberglite.spark.write.files.{DataFileWriter, InputField, InputSource}
import iceberglite.spec.types.Type.{StructType, VariantType}

/**
 * A column of variants of the table, or a field of its structs.
 *
 * @param fields the fields that lead to the variant
 */
final private[parquet] case class VariantColumnPath(fields: Vector[InputField]) {
  val fieldId: Int = fields.last.field.id

  private val name = fields.map(_.field.name).mkString(".")

  /** Returns the text of the variant in a row; absent if it is null. */
  def text(row: InternalRow): Option[UTF8String] = {
    val struct = fields.init.foldLeft(Option(row)) { (values, f) =>
      values.filterNot(_.isNullAt(f.ordinal)).map(_.getStruct(f.ordinal, f.size))
    }
    struct.filterNot(_.isNullAt(fields.last.ordinal)).map(_.getUTF8String(fields.last.ordinal))
  }

  def node(text: UTF8String): VariantNode = VariantText.node(text, name)
}

private[parquet] object VariantColumnPath {

  /** Returns the variants that rows contain outside of lists and maps. */
  def all(input: Vector[InputField]): Vector[VariantColumnPath] = input.flatMap { f =>
    (f.source, f.field.fieldType) match {
      case (InputSource.Rows(_), VariantType) if f.isStored => Vector(VariantColumnPath(Vector(f)))
      case (InputSource.Rows(_), _: StructType) if f.isStored => all(f.parts).map(p => VariantColumnPath(f +: p.fields))
      case _ => Vector.empty
    }
  }
}

/**
 * A Parquet file with shredded variants. The first rows are buffered, because the columns of the file depend on them.
 *
 * @param variants the columns of variants to shred
 * @param sampleSize the maximum number of buffered rows
 * @param open creates the file, with the shapes of the variants by field id
 */
final private[parquet] class SampledParquetFile(
    variants: Vector[VariantColumnPath],
    sampleSize: Int,
    open: Map[Int, VariantShape] => DataFileWriter
) extends DataFileWriter {
  private val sample = mutable.ArrayBuffer.empty[InternalRow]
  private var sampleBytes = 0L
  private var file = Option.empty[DataFileWriter]

  override def write(row: InternalRow): Unit = file match {
    case Some(opened) => opened.write(row)
    case None =>
      sample += row.copy()
      sampleBytes += sizeOf(row)
      if (sample.size >= sampleSize || sampleBytes >= SampledParquetFile.MaxSampleBytes) opened()
  }

  private def sizeOf(row: InternalRow): Long = row match {
    case unsafe: UnsafeRow => unsafe.getSizeInBytes.toLong
    case _ => variants.flatMap(_.text(row)).map(_.numBytes.toLong).sum
  }

  /** Returns the file, which is created with the rows of the sample if it does not exist. */
  private def opened(): DataFileWriter = file.getOrElse {
    val shapes = variants.flatMap { column =>
      VariantShape.of(sample.flatMap(column.text(_)).map(column.node).toVector).map(column.fieldId -> _)
    }
    val created = open(shapes.toMap)
    file = Some(created)
    sample.foreach(created.write)
    sample.clear()
    sampleBytes = 0L
    created
  }

  override def length: Long = file.fold(sampleBytes)(_.length)

  override def buffered: Long = file.fold(sampleBytes)(_.buffered)

  override def flush(): Unit = opened().flush()

  override def finish(): WrittenFile = opened().finish()

  override def abandon(): Unit = {
    sample.clear()
    file.foreach(_.abandon())
  }
}

private object SampledParquetFile {

  /** The approximate maximum size of the buffered rows of a file in bytes. */
  private val MaxSampleBytes = 8L << 20
}
