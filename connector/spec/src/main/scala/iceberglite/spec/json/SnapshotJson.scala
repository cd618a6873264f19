package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.metadata.Snapshot

/** The JSON form of a snapshot (spec: "Appendix C - Table Metadata and Snapshots"), with row lineage of version 3. */
object SnapshotJson extends JsonFormat[Snapshot] {
  private[json] val SnapshotId = "snapshot-id"
  private[json] val ParentId = "parent-snapshot-id"
  private[json] val SequenceNumber = "sequence-number"
  private[json] val TimestampMs = "timestamp-ms"
  private[json] val Summary = "summary"
  private[json] val ManifestList = "manifest-list"
  private val Manifests = "manifests"
  private[json] val SchemaId = "schema-id"
  private[json] val FirstRowId = "first-row-id"
  private[json] val AddedRows = "added-rows"
  private[json] val KeyId = "key-id"

  /** The sequence number of the snapshots of version 1, which has no sequence numbers. */
  private val NoSequenceNumber = 0L

  override def read(json: JsonValue): Snapshot = {
    val manifestList = json.optionalString(ManifestList)
    if (manifestList.isEmpty && !json.has(Manifests)) {
      json.fail(s"The snapshot has neither $ManifestList nor $Manifests")
    }
    Snapshot(
      json.long(SnapshotId),
      json.optionalLong(ParentId),
      json.optionalLong(SequenceNumber).getOrElse(NoSequenceNumber),
      json.long(TimestampMs),
      manifestList,
      // Spec, "Snapshots": `manifests` must be omitted if `manifest-list` is present.
      if (manifestList.isDefined) Vector.empty else json.mapOf(Manifests)(_.string),
      json.stringsOf(Summary),
      json.optionalInt(SchemaId),
      json.optionalCount(FirstRowId),
      json.optionalCount(AddedRows),
      json.optionalString(KeyId)
    )
  }

  override def write(s: Snapshot, out: JsonGenerator): Unit = {
    out.writeStartObject()
    // The sequence number 0 of version 1 snapshots is not written, even if the table was upgraded to version 2 later.
    // Readers interpret an absent sequence number as 0.
    if (s.sequenceNumber > NoSequenceNumber) out.writeNumberField(SequenceNumber, s.sequenceNumber)
    out.writeNumberField(SnapshotId, s.snapshotId)
    s.parentSnapshotId.foreach(out.writeNumberField(ParentId, _))
    out.writeNumberField(TimestampMs, s.timestampMs)
    if (s.summary.nonEmpty) JsonFormat.writeStrings(out, Summary, s.summary)
    s.manifestList match {
      case Some(list) => out.writeStringField(ManifestList, list)
      case None => JsonFormat.writeArray(out, Manifests, s.manifests)(m => out.writeString(m))
    }
    s.schemaId.foreach(out.writeNumberField(SchemaId, _))
    s.firstRowId.foreach(out.writeNumberField(FirstRowId, _))
    s.addedRows.foreach(out.writeNumberField(AddedRows, _))
    s.keyId.foreach(out.writeStringField(KeyId, _))
    out.writeEndObject()
  }
}
