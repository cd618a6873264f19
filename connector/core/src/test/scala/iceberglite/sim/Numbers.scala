package iceberglite.sim

import scala.collection.mutable

import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, EntryStatus, ManifestEntry, ManifestFile}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}

/** Checks sequence numbers and, from version 3 on, row ids (specification, "Sequence Numbers" and "Row Lineage"). */
object Numbers extends Check {
  override def name: String = "sequence numbers and row ids follow the specification"

  /** The data sequence number, the file sequence number and the first row id that a commit assigns to a file. */
  private case class Numbered(data: Option[Long], file: Option[Long], firstRowId: Option[Long])

  private type Key = (String, Option[Long])

  private def key(entry: ManifestEntry): Key = (entry.file.path, entry.file.contentOffset)

  private def numbered(entry: ManifestEntry): Numbered =
    Numbered(entry.sequenceNumber, entry.fileSequenceNumber, entry.file.firstRowId)

  override def violations(history: CheckedHistory): Vector[String] = {
    val seen = mutable.Set.empty[(Long, Long, String)]
    history.chain.steps.flatMap { step =>
      val inMetadata = metadataViolations(step)
      val inFiles = step.added.flatMap(s => snapshotViolations(history, step.after.metadata, s, seen))
      (inMetadata ++ inFiles).map(reason => s"${step.after.location}: $reason")
    } ++ overlaps(seen.toVector.sorted)
  }

  private def metadataViolations(step: Step): Vector[String] = {
    val (before, after) = (step.before.metadata, step.after.metadata)
    val numbers = step.added.map(_.sequenceNumber)
    val expected =
      if (after.formatVersion == FormatVersion.V1) step.added.map(_ => 0L)
      else step.added.indices.map(before.lastSequenceNumber + 1 + _).toVector
    val highest = (before.lastSequenceNumber +: numbers).max
    val rowIds = step.added.scanLeft(before.nextRowId)((next, s) => next + s.addedRows.getOrElse(0L))
    val v3 = after.formatVersion >= FormatVersion.V3
    Vector(
      (numbers == expected) -> s"the snapshots have the sequence numbers $numbers, not $expected",
      (after.lastSequenceNumber == highest) ->
        (s"last-sequence-number is ${after.lastSequenceNumber}, not $highest (before: ${before.lastSequenceNumber}; " +
          s"new snapshots: ${numbers.mkString(", ")})"),
      (!v3 || step.added.map(_.firstRowId) == rowIds.init.map(Some(_))) ->
        s"the snapshots have the first-row-ids ${step.added.map(_.firstRowId)}, not ${rowIds.init}",
      (!v3 || after.nextRowId == rowIds.last) -> s"next-row-id is ${after.nextRowId}, not ${rowIds.last}",
      step.added.forall(s => s.timestampMs >= before.lastUpdatedMs) -> "a snapshot is older than the version before it"
    ).collect { case (false, reason) => reason }
  }

  private def snapshotViolations(
      history: CheckedHistory,
      metadata: TableMetadata,
      snapshot: Snapshot,
      seen: mutable.Set[(Long, Long, String)]
  ): Vector[String] = {
    val parent = snapshot.parentSnapshotId.toVector.flatMap(id => history.reader.live(metadata, metadata.snapshot(id)))
    val before = parent.map(e => key(e) -> numbered(e)).toMap
    val files = history.reader.files(metadata, snapshot)
    val manifests = files.manifests.map(m => m.path -> m).toMap
    // In version 4 (metadata tree with a root and leaf manifests), a commit can remove entries from a leaf manifest
    // without rewriting it. The leaf keeps its minimum sequence number, which can then be less than the sequence
    // numbers of all remaining entries.
    val hasExactMinimum = files.treeRoot.isEmpty
    files.parts.flatMap { part =>
      val live = files.entries(part).filter(_.isLive).toVector
      live.foreach(e => e.file.firstRowId.foreach(first => seen += ((first, first + e.file.recordCount, e.file.path))))
      manifests.get(part.path).toVector.flatMap(manifestViolations(snapshot, _, live, hasExactMinimum)) ++
        live.flatMap(e => entryViolations(snapshot, metadata, e, before.get(key(e))))
    }.map(reason => s"snapshot ${snapshot.snapshotId}: $reason")
  }

  private def manifestViolations(
      snapshot: Snapshot,
      manifest: ManifestFile,
      live: Vector[ManifestEntry],
      hasExactMinimum: Boolean
  ): Vector[String] = {
    val isNew = manifest.addedSnapshotId == snapshot.snapshotId
    val least = live.flatMap(_.sequenceNumber).reduceOption[Long](math.min)
    val expected = least.mkString(if (hasExactMinimum) "" else "at most ", "", "")
    val (added, existing) = live.partition(_.status == EntryStatus.Added)
    Vector(
      (!isNew || manifest.sequenceNumber == snapshot
        .sequenceNumber) -> s"${manifest.path} does not have the sequence number of its snapshot",
      (manifest.sequenceNumber <= snapshot.sequenceNumber) ->
        s"${manifest.path} has a higher sequence number than its snapshot",
      least.forall(n => if (hasExactMinimum) n == manifest.minSequenceNumber else n >= manifest.minSequenceNumber) ->
        s"${manifest.path} has the min-sequence-number ${manifest.minSequenceNumber}, not $expected",
      manifest.addedFilesCount.forall(_ == added.size) -> s"${manifest.path} has a wrong count of added files",
      manifest.existingFilesCount.forall(_ == existing.size) -> s"${manifest.path} has a wrong count of existing files"
    ).collect { case (false, reason) => reason }
  }

  /** @param before the file's numbers in the parent snapshot; `None` if the parent does not contain the file */
  private def entryViolations(
      snapshot: Snapshot,
      metadata: TableMetadata,
      entry: ManifestEntry,
      before: Option[Numbered]
  ): Vector[String] = {
    val file = entry.file
    val now = numbered(entry)
    val kept = before.forall { b =>
      b.data == now.data && b.file == now.file && (b.firstRowId.isEmpty || b.firstRowId == now.firstRowId)
    }
    val isNew = entry.status == EntryStatus.Added && entry.snapshotId.contains(snapshot.snapshotId)
    val needsRowId = file.content == Content.Data && snapshot.firstRowId.isDefined
    Vector(
      kept -> s"${file.path} had the numbers ${before.mkString} in the parent snapshot and now has $now",
      (!isNew || entry.fileSequenceNumber.contains(snapshot.sequenceNumber)) ->
        s"${file.path} is new, but does not have the file sequence number ${snapshot.sequenceNumber}: $now",
      entry.sequenceNumber.forall(_ <= snapshot.sequenceNumber) ->
        s"${file.path} has a higher sequence number than the snapshot",
      (!needsRowId || file.firstRowId.isDefined) -> s"${file.path} has no row ids",
      file.firstRowId.forall(_ + file.recordCount <= metadata.nextRowId) ->
        s"${file.path} has row ids that are not below next-row-id ${metadata.nextRowId}"
    ).collect { case (false, reason) => reason }
  }

  /** @param ranges first row id, end (exclusive) and path of each file, in the order of the first row ids */
  private def overlaps(ranges: Vector[(Long, Long, String)]): Vector[String] =
    ranges.zip(ranges.drop(1)).collect {
      case ((_, end, first), (start, _, second)) if start < end =>
        s"$first and $second have overlapping row ids"
    }
}
