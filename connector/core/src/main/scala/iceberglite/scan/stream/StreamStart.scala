package iceberglite.scan.stream

import iceberglite.scan.stream.StreamPosition._

/** Where a stream begins if its checkpoint has no offset. */
sealed trait StreamStart extends Product with Serializable {

  /**
   * Returns the offset with which a stream begins.
   *
   * @throws iceberglite.spec.IcebergError if a requested snapshot has expired or is not in the history of the branch
   */
  def offset(state: StreamState, content: StreamContent): StreamOffset =
    StreamOffset(position(state, content), table = state.metadata.uuid)

  private[stream] def position(state: StreamState, content: StreamContent): StreamPosition
}

object StreamStart {

  /**
   * Begins with the rows of the oldest snapshot in the history of the branch or, in a stream of changes, with the
   * changes of the oldest commit. The later commits follow.
   */
  case object Oldest extends StreamStart {
    override private[stream] def position(state: StreamState, content: StreamContent): StreamPosition =
      StreamHistory.of(state).lastOption.fold[StreamPosition](Empty) { oldest =>
        content match {
          case _: StreamContent.Appends => InSnapshot(oldest.snapshotId, 0)
          case StreamContent.Changes => InCommit(oldest.snapshotId, 0)
        }
      }
  }

  /** Begins with the rows of the snapshot that is current when the stream begins. The later commits follow. */
  case object Current extends StreamStart {
    override private[stream] def position(state: StreamState, content: StreamContent): StreamPosition =
      state.head.fold[StreamPosition](Empty)(h => InSnapshot(h.snapshotId, 0))
  }

  /** Begins with the first commit after the start of the stream. */
  case object Now extends StreamStart {
    override private[stream] def position(state: StreamState, content: StreamContent): StreamPosition =
      state.head.fold[StreamPosition](Empty)(h => After(h.snapshotId))
  }

  /** Begins with the first commit after a snapshot. */
  final case class AfterSnapshot(snapshotId: Long) extends StreamStart {
    override private[stream] def position(state: StreamState, content: StreamContent): StreamPosition = {
      new StreamHistory().after(state, snapshotId)
      After(snapshotId)
    }
  }

  /**
   * Begins with the first commit at or after a time. If this commit may have expired, the stream begins like
   * [[Oldest]]. If there is no such commit yet, the stream begins like [[Now]].
   *
   * @param epochMs the time in milliseconds since the epoch
   */
  final case class AtTime(epochMs: Long) extends StreamStart {
    override private[stream] def position(state: StreamState, content: StreamContent): StreamPosition = {
      val newestFirst = StreamHistory.of(state)
      newestFirst.takeWhile(_.timestampMs >= epochMs).lastOption match {
        case None => Now.position(state, content)
        case Some(s) if newestFirst.lastOption.contains(s) && s.parentSnapshotId.isDefined =>
          Oldest.position(state, content)
        case Some(first) => InCommit(first.snapshotId, 0)
      }
    }
  }
}
