package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.spec.metadata.SnapshotRef.{Branch, Tag}

/** The JSON form of a branch or tag (spec: "Snapshot References" and "Appendix C"). */
object SnapshotRefJson extends JsonFormat[SnapshotRef] {
  private val SnapshotId = "snapshot-id"
  private val Kind = "type"
  private val MinSnapshotsToKeep = "min-snapshots-to-keep"
  private val MaxSnapshotAgeMs = "max-snapshot-age-ms"
  private val MaxRefAgeMs = "max-ref-age-ms"
  private val BranchKind = "branch"
  private val TagKind = "tag"

  override def read(json: JsonValue): SnapshotRef = {
    val id = json(SnapshotId).long
    val maxRefAgeMs = json.optional(MaxRefAgeMs).map(_.long)
    json(Kind).lowerCase match {
      case BranchKind =>
        val minSnapshotsToKeep = json.optional(MinSnapshotsToKeep).map(_.int)
        Branch(id, minSnapshotsToKeep, json.optional(MaxSnapshotAgeMs).map(_.long), maxRefAgeMs)
      case TagKind => Tag(id, maxRefAgeMs)
      case other => json(Kind).fail(s"Must be $BranchKind or $TagKind, found $other")
    }
  }

  /** Reads and checks a branch or tag. @param name the name of the branch or tag */
  private[json] def readChecked(name: String, json: JsonValue): SnapshotRef =
    try SnapshotRef.checked(name, read(json))
    catch { case e: InvalidArgument => json.fail(e.getMessage) }

  override def write(ref: SnapshotRef, out: JsonGenerator): Unit = {
    out.writeStartObject()
    writeFields(ref, out)
    out.writeEndObject()
  }

  /** Writes the keys of a branch or tag. The metadata update `set-snapshot-ref` contains the same keys. */
  private[json] def writeFields(ref: SnapshotRef, out: JsonGenerator): Unit = {
    out.writeNumberField(SnapshotId, ref.snapshotId)
    out.writeStringField(Kind, ref.kind)
    ref match {
      case branch: Branch =>
        branch.minSnapshotsToKeep.foreach(out.writeNumberField(MinSnapshotsToKeep, _))
        branch.maxSnapshotAgeMs.foreach(out.writeNumberField(MaxSnapshotAgeMs, _))
      case _: Tag => ()
    }
    ref.maxRefAgeMs.foreach(out.writeNumberField(MaxRefAgeMs, _))
  }
}
