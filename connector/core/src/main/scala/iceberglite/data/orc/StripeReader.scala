package iceberglite.data.orc

import java.io.EOFException
import java.util.function.Consumer

import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.common.io.DiskRangeList
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch
import org.apache.orc.{DataReader, OrcConf, TypeDescription}
import org.apache.orc.impl._
import org.apache.orc.impl.reader.StripePlanner
import org.apache.orc.impl.reader.tree.TypeReader.ReadPhase

/**
 * Reads the stripes of a split of a file in order with the library's decoders. The library's own record reader is not
 * used, because its streams cannot be replaced. This class replaces the streams, because the decoders do not stop at
 * the end of a truncated stream.
 *
 * @param included the nodes of the file's schema to read
 */
final private[orc] class StripeReader(
    path: String,
    storage: OrcStorage,
    file: ReaderImpl,
    included: Array[Boolean],
    part: OrcPart,
    skipping: OrcSkipping
) extends AutoCloseable {
  private val evolution = new SchemaEvolution(file.getSchema, StripeReader.FileSchema, file.options().include(included))
  private val data: DataReader = RecordReaderUtils.createDefaultDataReader(
    DataReaderProperties.builder().withFileSystem(storage).withPath(new Path(path)).withFile(file.takeFile())
      .withCompression(
        InStream.options().withCodec(OrcCodecPool.getCodec(file.getCompressionKind))
          .withBufferSize(file.getCompressionSize)
      ).withMaxDiskRangeChunkLimit(OrcConf.ORC_MAX_DISK_RANGE_CHUNK_LIMIT.getInt(storage.getConf)).build()
  )
  private val planner =
    new StripePlanner(file.getSchema, file.getEncryption, data, file.getWriterVersion, false, Int.MaxValue.toLong) {
      override def getStream(name: StreamName): InStream =
        Option(super.getStream(name)).map[InStream](new StripeReader.EndingStream(name, _)).orNull
    }

  /**
   * The library's decoders. They are created by the first read and not by the constructor. If the constructor failed,
   * the caller would have no object to close, and the file would stay open.
   */
  private lazy val decoders = TreeReaderFactory.createRootReader(
    evolution.getReaderSchema,
    new TreeReaderFactory.ReaderContext().setSchemaEvolution(evolution).setEncryption(file.getEncryption)
      .fileFormat(file.getFileVersion).useUTCTimestamp(true)
      .setProlepticGregorian(file.writerUsedProlepticGregorian, file.writerUsedProlepticGregorian)
  )
  private val remaining = new OrcStripeSelection(file, part, skipping).iterator

  /** The row groups of the current stripe that are read. */
  private var groups = Option.empty[OrcRowGroups]
  private var position = 0L

  /** The position in the file of the first row of the last batch. */
  def firstRow: Long = position

  /** Fills the batch. Returns false if there are no more rows. */
  def next(batch: VectorizedRowBatch): Boolean = {
    while (groups.forall(_.isAtEnd) && remaining.hasNext) open(remaining.next())
    groups.filterNot(_.isAtEnd) match {
      case None => false
      case Some(run) =>
        run.toNextRun().foreach(seek(run, _))
        val rows = math.min(run.rowsLeftInRun, batch.getMaxSize.toLong).toInt
        decoders.setVectorColumnCount(batch.getDataColumnCount)
        decoders.nextBatch(batch, rows, ReadPhase.ALL)
        batch.size = rows
        position = run.position
        run.advance(rows)
        true
    }
  }

  private def open(stripe: OrcStripe): Unit = {
    planner.clearStreams()
    planner.parseStripe(stripe.stripe, evolution.getFileIncluded)
    groups = if (file.getRowIndexStride <= 0 || skipping.hasNoFilter) None else selected(stripe)
    if (groups.isEmpty) groups = Some(OrcRowGroups.all(stripe))
    groups.filterNot(_.isAtEnd).foreach { run =>
      val index = run.index.getOrElse(StripeReader.NoIndex)
      val selection = run.selection.getOrElse(StripeReader.AllRowGroups)
      planner.readData(index, selection, false, ReadPhase.ALL)
      decoders.startStripe(planner, ReadPhase.ALL)
    }
  }

  /**
   * Returns the selected row groups; absent if all row groups are read, in which case the library does not use the
   * index.
   */
  private def selected(stripe: OrcStripe): Option[OrcRowGroups] = {
    val index = planner.readRowIndex(new Array[Boolean](included.length), StripeReader.NoIndex)
    val timesInUtc = StripeReader.isUtc(planner.getWriterTimezone)
    OrcRowGroups.selected(stripe, file.getRowIndexStride, index, skipping, timesInUtc)
  }

  private def seek(run: OrcRowGroups, group: Int): Unit = decoders.seek(run.positions(group), ReadPhase.ALL)

  override def close(): Unit = {
    planner.clearStreams()
    data.close()
  }
}

private object StripeReader {

  /** Tells the library to read with the schema of the file. */
  private val FileSchema: TypeDescription = null

  /** Tells the library that no index has been read. */
  private val NoIndex: OrcIndex = null

  /** Tells the library to read all row groups. */
  private val AllRowGroups: Array[Boolean] = null

  private def isUtc(zone: String): Boolean = zone == "UTC" || zone == "GMT"

  /**
   * Maximum number of reads by a decoder at the end of a stream. One read detects the end; further reads are tolerated.
   */
  private val MaxReadsAtEnd = 64

  /**
   * A stream that throws an exception if it is read repeatedly at its end. Without the exception, the decoders would
   * read billions of times, because they add the results of reads, including the end marker -1, to a count.
   */
  final private class EndingStream(streamName: StreamName, in: InStream) extends InStream(streamName, 0L, 0L) {
    private var readsAtEnd = 0

    override def read(): Int = checked(in.read())
    override def read(bytes: Array[Byte], offset: Int, size: Int): Int = checked(in.read(bytes, offset, size))
    override def skip(count: Long): Long = in.skip(count)
    override def available(): Int = in.available()
    override def close(): Unit = in.close()
    override def changeIv(modifier: Consumer[Array[Byte]]): Unit = in.changeIv(modifier)
    override def seek(position: PositionProvider): Unit = in.seek(position)
    override def toString: String = in.toString
    override protected def setCurrent(range: DiskRangeList, isJump: Boolean): Unit = ()

    private def checked(read: Int): Int = {
      if (read < 0) {
        readsAtEnd += 1
        if (readsAtEnd > MaxReadsAtEnd) throw new EOFException(s"Values extend past the end of $streamName")
      }
      read
    }
  }
}
