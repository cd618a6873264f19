package iceberglite.spark.stream.source

import org.apache.spark.sql.connector.read.streaming.{CompositeReadLimit, Offset, ReadLimit, ReadMaxFiles, ReadMaxRows}

import iceberglite.scan.stream.{StreamLimit, StreamOffset}

/** The offset of a stream in the form that Spark stores in checkpoints. */
final private[source] case class IcebergOffset(offset: StreamOffset) extends Offset {
  override val json: String = StreamOffset.toJson(offset)
}

private[source] object IcebergOffset {

  /** Parses an offset. @throws iceberglite.spec.IcebergError.InvalidMetadata if the JSON is not a supported offset */
  def parse(json: String): IcebergOffset = new IcebergOffset(StreamOffset.parse(json))

  /** Returns the offset that Spark passes to a source. After a restart, Spark passes the JSON of the checkpoint. */
  def of(offset: Offset): StreamOffset = offset match {
    case IcebergOffset(own) => own
    case other => StreamOffset.parse(other.json)
  }
}

/** The limit of a micro-batch. Spark requests it from the source, and passes it back when it plans the micro-batch. */
final private[source] case class IcebergReadLimit(limit: StreamLimit) extends ReadLimit

private[source] object IcebergReadLimit {

  /** Returns the limit of the next micro-batch. With `Trigger.Once`, Spark requests all available rows. */
  def of(limit: ReadLimit): StreamLimit = limit match {
    case IcebergReadLimit(own) => own
    case files: ReadMaxFiles => StreamLimit(files = Some(files.maxFiles.toLong))
    case rows: ReadMaxRows => StreamLimit(rows = Some(rows.maxRows))
    case all: CompositeReadLimit => all.getReadLimits.map(of).foldLeft(StreamLimit.Unlimited)(_ and _)
    case _ => StreamLimit.Unlimited
  }
}
