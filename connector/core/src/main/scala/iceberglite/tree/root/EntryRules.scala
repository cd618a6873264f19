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

  /** Returns the kind with the given name. The name `deletes`, as in versions 1 to 3, is also accepted. */
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
  def violation(e: ContentEntry, kind: ManifestKind): Option[String] =
    if (!kind.allows(e.content)) Some(s"is not allowed in a ${kind.name} manifest")
    else if (e.recordCount < 0) Some(s"has the negative record count ${e.recordCount}")
    else if (e.fileSizeInBytes.exists(_ < 0)) Some(s"has the negative file size ${e.fileSizeInBytes.mkString}")
    else content(e).orElse(vector(e)).orElse(versionInfo(e))

  private def content(e: ContentEntry): Option[String] = {
    val isManifest = e.content == DataManifest || e.content == DeleteManifest
    val isEquality = e.content == EqualityDeletes
    if (e.manifest.isDefined != isManifest) Some(presenceViolation("manifest_stats", isManifest))
    else if (e.manifest.exists(hasNegativeCount)) Some("has a negative count in manifest_stats")
    else if (e.equalityIds.nonEmpty != isEquality) Some(presenceViolation("equality ids", isEquality))
    else if (e.sortOrderId.isDefined && e.content != Data) Some("has a sort order, but only data files may have one")
    else if (e.firstRowId.isDefined && e.content != Data && e.content != DataManifest)
      Some("has a first row id, but only data files and data manifests may have one")
    else if (e.firstRowId.exists(_ < 0)) Some(s"has the negative first row id ${e.firstRowId.mkString}")
    else if (!isSorted(e.splitOffsets)) Some("has split offsets that are not sorted")
    else None
  }

  private def isSorted(offsets: Vector[Long]): Boolean =
    offsets.size < 2 || (1 until offsets.size).forall(i => offsets(i - 1) <= offsets(i))

  private def hasNegativeCount(s: ManifestStats): Boolean =
    s.addedFiles < 0 || s.existingFiles < 0 || s.deletedFiles < 0 || s.addedRows < 0 || s.existingRows < 0 ||
      s.deletedRows < 0

  private def vector(e: ContentEntry): Option[String] = {
    val isVector = e.content == PositionDeletes || e.content == ManifestVector
    val mayReference = isVector || e.content == DeleteManifest
    val isInline = e.vector.exists { case _: Inline => true; case _: InPuffin => false }
    if (e.vector.isDefined != isVector) Some(presenceViolation("deletion_vector", isVector))
    else if (isVector && e.referencedFile.isEmpty) Some("has no referenced file")
    else if (!mayReference && e.referencedFile.isDefined)
      Some("has a referenced file, but only deletion vectors and delete manifests may have one")
    else if (isInline && e.content == PositionDeletes)
      Some("has an inline deletion vector, but only deletion vectors of manifests may be inline")
    else if (!isInline && e.location.isEmpty) Some("has no location")
    else if (!isInline && e.fileSizeInBytes.isEmpty) Some("has no file size")
    else if (isInline && e.location.nonEmpty) Some("has a location, although its deletion vector is inline")
    else if (e.vector.exists(outside(_, e.fileSizeInBytes))) Some("has a deletion vector that is not within its file")
    else None
  }

  private def outside(vector: VectorContent, fileSize: Option[Long]): Boolean = vector match {
    case InPuffin(offset, size) => offset < 0 || size < 0 || fileSize.exists(length => offset > length - size)
    case _: Inline => false
  }

  private def versionInfo(e: ContentEntry): Option[String] = {
    val info = e.version
    val isManifest = e.content == DataManifest || e.content == DeleteManifest
    if (info.sequenceNumber.exists(_ < 0) || info.fileSequenceNumber.exists(_ < 0))
      Some("has a negative sequence number")
    else if (info.status != EntryStatus.Added && !isComplete(info))
      Some("does not have the status added, and therefore must have a snapshot id and sequence numbers")
    else if (isManifest && info.sequenceNumber != info.fileSequenceNumber)
      Some("has different data and file sequence numbers, which must be equal for a manifest")
    else None
  }

  private def isComplete(info: VersionInfo): Boolean =
    info.snapshotId.isDefined && info.sequenceNumber.isDefined && info.fileSequenceNumber.isDefined

  private def presenceViolation(field: String, isRequired: Boolean): String =
    if (isRequired) s"has no $field, which its content requires"
    else s"has $field, which its content does not allow"
}
