package iceberglite.tree.root

import iceberglite.spec.file.EntryStatus
import iceberglite.tree.root.EntryContent._
import iceberglite.tree.root.VectorContent.{InPuffin, Inline}

/** The kind of a version 4 manifest (key `content` of its metadata), which determines what it may list. */
sealed abstract private[root] class ManifestKind(val name: String, allowed: Set[EntryContent]) extends Serializable {
  def allows(content: EntryContent): Boolean = allowed(content)
}

private[root] object ManifestKind {
  case object Root extends ManifestKind("root", EntryContent.all.toSet)
  case object DataLeaf extends ManifestKind("data", Set(Data))
  case object DeleteLeaf extends ManifestKind("delete", Set(PositionDeletes, EqualityDeletes))

  private val all: Seq[ManifestKind] = Seq(Root, DataLeaf, DeleteLeaf)

  /** Returns the kind with the given name. The name `deletes` of earlier versions is also accepted. */
  def named(name: String): Option[ManifestKind] = if (name == "deletes") Some(DeleteLeaf) else all.find(_.name == name)
}

/** The rules for the fields of an entry, which depend on its content. Readers and writers check every entry. */
private[root] object EntryRules {

  /** @throws EntryFault if the entry violates a rule */
  def check(entry: ContentEntry, kind: ManifestKind): Unit =
    violation(entry, kind).foreach(reason => throw EntryFault(s"The ${describe(entry)} $reason"))

  private def describe(e: ContentEntry): String =
    s"entry of the ${e.content.name} ${if (e.location.isEmpty) e.referencedFile.mkString else e.location}"

  /** Returns the violated rule, as the predicate of a sentence about the entry. */
  def violation(e: ContentEntry, kind: ManifestKind): Option[String] = {
    val rules = Iterator(
      !kind.allows(e.content) -> s"is not allowed in a ${kind.name} manifest",
      (e.recordCount < 0) -> s"has the negative record count ${e.recordCount}",
      e.fileSizeInBytes.exists(_ < 0) -> s"has the negative file size ${e.fileSizeInBytes.mkString}"
    ) ++ content(e) ++ vector(e) ++ version(e)
    rules.collectFirst { case (true, reason) => reason }
  }

  private def content(e: ContentEntry): Iterator[(Boolean, String)] = {
    val isManifest = e.content == DataManifest || e.content == DeleteManifest
    Iterator(
      (e.manifest.isDefined != isManifest) -> absent("manifest_stats", isManifest),
      e.manifest.exists(hasNegativeCount) -> "has a negative count in manifest_stats",
      (e.equalityIds.nonEmpty != (e.content == EqualityDeletes)) ->
        absent("equality ids", e.content == EqualityDeletes),
      (e.sortOrderId.isDefined && e.content != Data) -> "has a sort order, but only data files may have one",
      (e.firstRowId.isDefined && e.content != Data && e.content != DataManifest) ->
        "has a first row id, but only data files and data manifests may have one",
      e.firstRowId.exists(_ < 0) -> s"has the negative first row id ${e.firstRowId.mkString}",
      (e.splitOffsets != e.splitOffsets.sorted) -> "has split offsets that are not sorted"
    )
  }

  private def hasNegativeCount(stats: ManifestStats): Boolean =
    Seq(stats.addedFiles, stats.existingFiles, stats.deletedFiles).exists(_ < 0) ||
      Seq(stats.addedRows, stats.existingRows, stats.deletedRows).exists(_ < 0)

  private def vector(e: ContentEntry): Iterator[(Boolean, String)] = {
    val isVector = e.content == PositionDeletes || e.content == ManifestVector
    val mayReference = isVector || e.content == DeleteManifest
    val isInline = e.vector.exists { case _: Inline => true; case _: InPuffin => false }
    Iterator(
      (e.vector.isDefined != isVector) -> absent("deletion_vector", isVector),
      (isVector && e.referencedFile.isEmpty) -> "has no referenced file",
      (!mayReference && e.referencedFile.isDefined) -> "has a referenced file, but its content applies to no single file",
      (isInline && e.content == PositionDeletes) -> "is inline, but only deletion vectors of manifests may be inline",
      (!isInline && e.location.isEmpty) -> "has no location",
      (!isInline && e.fileSizeInBytes.isEmpty) -> "has no file size",
      (isInline && e.location.nonEmpty) -> "has a location, although it is inline",
      e.vector.exists(outside(_, e.fileSizeInBytes)) -> "is not within its file"
    )
  }

  private def outside(vector: VectorContent, fileSize: Option[Long]): Boolean = vector match {
    case InPuffin(offset, size) => offset < 0 || size < 0 || fileSize.exists(length => offset > length - size)
    case _: Inline => false
  }

  private def version(e: ContentEntry): Iterator[(Boolean, String)] = {
    val v = e.version
    val numbers = Seq(v.sequenceNumber, v.fileSequenceNumber)
    val isManifest = e.content == DataManifest || e.content == DeleteManifest
    Iterator(
      numbers.flatten.exists(_ < 0) -> "has a negative sequence number",
      (v.status != EntryStatus.Added && (numbers :+ v.snapshotId).exists(_.isEmpty)) ->
        "is not added, and therefore must have a snapshot id and sequence numbers",
      (isManifest && v.sequenceNumber != v.fileSequenceNumber) ->
        "has different data and file sequence numbers, which must be equal for a manifest"
    )
  }

  private def absent(field: String, isRequired: Boolean): String =
    if (isRequired) s"has no $field, although its content requires them"
    else s"has $field, which its content does not allow"
}
