package iceberglite.scan.stream

import iceberglite.scan.FileScanTask
import iceberglite.spec.IcebergError

/**
 * The limits of a micro-batch. The first file of a batch, or its first commit if the stream reads changes, may exceed
 * the limits.
 *
 * @param files maximum number of files
 * @param rows number of rows at which the batch ends; the batch contains the file with which this number is reached
 * @param bytes number of bytes at which the batch ends; the batch contains the file with which this number is reached
 */
final case class StreamLimit(files: Option[Long] = None, rows: Option[Long] = None, bytes: Option[Long] = None) {

  /** Returns a limit that is reached when one of two limits is reached. */
  def and(that: StreamLimit): StreamLimit = StreamLimit(
    (files ++ that.files).reduceOption(_ min _),
    (rows ++ that.rows).reduceOption(_ min _),
    (bytes ++ that.bytes).reduceOption(_ min _)
  )
}

object StreamLimit {
  val Unlimited: StreamLimit = StreamLimit()
}

/**
 * The files of a micro-batch.
 *
 * @param from the offset after which the batch begins
 * @param to the offset after the batch
 */
final case class StreamBatch(from: StreamOffset, to: StreamOffset, tasks: Vector[FileScanTask])

/** A part of a stream that a batch contains as a whole or not at all. */
sealed private[stream] trait StreamStep

private[stream] object StreamStep {

  /**
   * Files, and the position after them.
   *
   * @param commits 1 if the step completes a commit of a stream of changes; otherwise 0
   */
  final case class Files(tasks: Vector[FileScanTask], end: StreamPosition, commits: Int = 0) extends StreamStep

  /** A commit that the stream cannot read. */
  final case class Blocked(error: IcebergError) extends StreamStep
}

/** Collects the steps of a batch until one of the limits is reached. */
final private[stream] class StreamBatchBuilder(from: StreamOffset, limit: StreamLimit) {
  private val tasks = Vector.newBuilder[FileScanTask]
  private var to = from
  private var files, rows, bytes = 0L
  private var open = true

  /** Returns whether the batch may contain more steps. */
  def isOpen: Boolean = open

  /** Returns the position after the steps so far. */
  def position: StreamPosition = to.position

  /**
   * Adds a step, or ends the batch before it.
   *
   * @return whether the batch contains the step
   * @throws IcebergError if the stream cannot read the step, and the batch has no earlier step
   */
  def add(step: StreamStep): Boolean = step match {
    case StreamStep.Blocked(error) if to == from => throw error
    case StreamStep.Blocked(_) => end()
    case StreamStep.Files(added, _, _) if files > 0 && limit.files.exists(files + added.size > _) => end()
    case StreamStep.Files(added, position, commits) =>
      tasks ++= added.map(t => t.copy(change = t.change.map(_.copy(ordinal = to.commits))))
      to = to.copy(position = position, commits = to.commits + commits)
      files += added.size
      rows += added.iterator.map(_.liveRecords).sum
      bytes += added.iterator.map(_.length).sum
      open = !limit.files.exists(files >= _) && !limit.rows.exists(rows >= _) && !limit.bytes.exists(bytes >= _)
      true
  }

  private def end(): Boolean = {
    open = false
    false
  }

  def result: StreamBatch = StreamBatch(from, to, tasks.result())
}
