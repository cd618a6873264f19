package iceberglite.data.orc

import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch
import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.{Category, RowBatchVersion}
import org.apache.orc.impl.{ReaderImpl, TypeUtils}

import iceberglite.data.{DataSource, FileFaults, Projection}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.schema.{NameMapping, Schema}
import iceberglite.spec.types.Type.StructType

/**
 * Reads the batches of a part of one file. The batch object is reused.
 *
 * @param columns the read plan of the requested columns, which contains their positions in the batch
 */
final private[iceberglite] class OrcBatchReader[V] private (
    path: String,
    reader: ReaderImpl,
    stripes: StripeReader,
    val batch: VectorizedRowBatch,
    val columns: OrcColumn.Struct[V]
) extends AutoCloseable {
  private var closed = false

  /** The position in the file of the first row of the batch. The positions of its other rows follow without gaps. */
  def firstRow: Long = stripes.firstRow

  /**
   * Fills the batch. Returns false at the end of the part.
   *
   * @throws UnreadableFile if the file is damaged or cannot be read
   */
  def next(): Boolean = FileFaults.wrapReadErrors(path)(!closed && stripes.next(batch))

  override def close(): Unit = if (!closed) {
    closed = true
    batch.size = 0
    try stripes.close()
    finally reader.close()
  }
}

private[iceberglite] object OrcBatchReader {

  /**
   * Maximum size in bytes of the strings and binaries in a batch. The size is estimated from the average row of the
   * file.
   */
  private val MaxBytes = 64L << 20

  /**
   * Opens a split of a data file.
   *
   * @param batchSize maximum number of rows in a batch
   * @param decimals how the batch represents decimals with up to 18 digits
   * @throws UnreadableFile if the file is damaged or cannot be read
   */
  def open[V](
      source: DataSource,
      part: OrcPart,
      expected: StructType,
      projection: Projection[V],
      batchSize: Int,
      decimals: RowBatchVersion
  ): OrcBatchReader[V] = FileFaults.wrapReadErrors(source.path) {
    val storage = OrcStorage.toRead(source.content, source.path)
    val reader = OrcTail.open(source.path, storage)
    try {
      val file = withIds(source, reader, expected)
      val orcProjection = new OrcProjection(file, projection)
      val columns = orcProjection.readPlan(expected)
      val size = math.min(batchSize.toLong, rowsInMemory(reader, orcProjection.included)).toInt
      val batch = batchOf(file, orcProjection.included, size, decimals)
      val skipping = new OrcSkipping(file, part.filter, part.withoutNan, reader.getWriterVersion)
      val stripes = new StripeReader(source.path, storage, reader, orcProjection.included, part, skipping)
      new OrcBatchReader(source.path, reader, stripes, batch, columns)
    } catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
  }

  /**
   * Returns the maximum number of rows per batch. The number is limited, because the library stores all strings of a
   * column of the batch in one array.
   */
  private def rowsInMemory(reader: ReaderImpl, included: Array[Boolean]): Long = {
    val statistics = reader.getOrcProtoFileStatistics
    val bytes = included.indices.iterator.filter(i => included(i) && i < statistics.size).map { i =>
      val ofColumn = statistics.get(i)
      math.max(ofColumn.getStringStatistics.getSum, ofColumn.getBinaryStatistics.getSum)
    }.map(BigInt(_)).sum
    if (bytes <= MaxBytes) Long.MaxValue
    else (BigInt(MaxBytes) * reader.getNumberOfRows / bytes).max(1).min(Long.MaxValue).toLong
  }

  /** Returns a new batch, which has no vectors for columns that are not read. */
  private def batchOf(
      file: TypeDescription,
      included: Array[Boolean],
      batchSize: Int,
      decimals: RowBatchVersion
  ): VectorizedRowBatch = {
    val children = file.getChildren
    val batch = new VectorizedRowBatch(children.size, batchSize)
    (0 until children.size).filter(i => included(children.get(i).getId)).foreach { i =>
      batch.cols(i) = TypeUtils.createColumn(children.get(i), decimals, batchSize)
    }
    batch.size = 0
    batch
  }

  /**
   * Returns the schema with field ids. If the file has no ids, they are assigned from the table's name mapping. If
   * there is no name mapping either, the columns of the file get the ids of the columns to read with the same names, as
   * in Apache Iceberg.
   *
   * @throws UnreadableFile if the rows of the file are not structs
   */
  private[orc] def withIds(source: DataSource, reader: ReaderImpl, expected: StructType): TypeDescription = {
    val file = reader.getSchema
    if (file.getCategory != Category.STRUCT) {
      val reason = s"The rows of the file have the ORC type ${file.getCategory}, not a struct type"
      throw UnreadableFile(source.path, FileFaults.Role, reason)
    }
    if (OrcSchemas.hasIds(file)) file
    else OrcNameMapping(file, source.nameMapping.getOrElse(NameMapping.of(Schema(0, expected.fields))))
  }
}
