package iceberglite.spark.sql

import scala.util.Try

import iceberglite.spec.metadata.SnapshotRef

/**
 * The options of CREATE and REPLACE for a branch or tag. If a retention option is absent, an existing branch or tag
 * keeps its value, and a new branch or tag uses the table's default.
 *
 * @param snapshotId the snapshot of `AS OF VERSION`; absent for the current snapshot
 * @param maxRefAgeMs the duration of `RETAIN`, in ms
 * @param minSnapshotsToKeep the number in `WITH SNAPSHOT RETENTION n SNAPSHOTS`
 * @param maxSnapshotAgeMs the duration in `WITH SNAPSHOT RETENTION`, in ms
 */
final case class RefOptions(
    snapshotId: Option[Long] = None,
    maxRefAgeMs: Option[Long] = None,
    minSnapshotsToKeep: Option[Int] = None,
    maxSnapshotAgeMs: Option[Long] = None
) {
  def hasRetention: Boolean = maxRefAgeMs.isDefined || minSnapshotsToKeep.isDefined || maxSnapshotAgeMs.isDefined

  /** Returns the branch or tag with these retention options. */
  def applyTo(ref: SnapshotRef): SnapshotRef = ref match {
    case branch: SnapshotRef.Branch => branch.copy(
        minSnapshotsToKeep = minSnapshotsToKeep.orElse(branch.minSnapshotsToKeep),
        maxSnapshotAgeMs = maxSnapshotAgeMs.orElse(branch.maxSnapshotAgeMs),
        maxRefAgeMs = maxRefAgeMs.orElse(branch.maxRefAgeMs)
      )
    case tag: SnapshotRef.Tag => tag.copy(maxRefAgeMs = maxRefAgeMs.orElse(tag.maxRefAgeMs))
  }
}

object RefOptions {
  private val Minute = 60 * 1000L
  private val units: Seq[(String, Long)] = Seq("DAYS" -> 24 * 60 * Minute, "HOURS" -> 60 * Minute, "MINUTES" -> Minute)

  /**
   * Parses the options.
   *
   * @param kind the kind of reference; only a branch can have a retention policy for snapshots, because a tag keeps
   *   only one snapshot
   */
  def parse(kind: RefKind, reader: SqlReader): RefOptions = {
    val snapshot = if (reader.skip("AS", "OF", "VERSION")) Some(reader.long("the id of a snapshot")) else None
    val retain = if (reader.skip("RETAIN")) Some(duration(reader.number("a number"), reader)) else None
    val options = RefOptions(snapshot, retain)
    if (kind == RefKind.Branch && reader.skip("WITH", "SNAPSHOT", "RETENTION")) retention(options, reader) else options
  }

  private def retention(options: RefOptions, reader: SqlReader): RefOptions = {
    val first = reader.number("a number of snapshots or of days, hours or minutes")
    if (reader.skip("SNAPSHOTS")) {
      options.copy(
        minSnapshotsToKeep = Some(first),
        maxSnapshotAgeMs = reader.numberIfAny().map(duration(_, reader))
      )
    } else options.copy(maxSnapshotAgeMs = Some(duration(first, reader, "SNAPSHOTS, ")))
  }

  private def duration(number: Int, reader: SqlReader, alternatives: String = ""): Long = {
    val unit = units.find(u => reader.peek.isWord(u._1)).getOrElse(
      reader.fail(s"expected ${alternatives}DAYS, HOURS or MINUTES")
    )
    val millis = Try(Math.multiplyExact(number.toLong, unit._2)).getOrElse(reader.fail("the time is too long"))
    reader.expectWord(unit._1)
    millis
  }
}
