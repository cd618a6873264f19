package iceberglite.tree.manifestlist

import iceberglite.spec.FormatVersion
import iceberglite.spec.file.ManifestContent
import iceberglite.spec.json.{PartitionSpecJson, SchemaJson}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.Schema

/**
 * The properties of a manifest that is written (spec: "Manifests").
 *
 * @param schema the table's schema, which is stored in the file and determines the types of partition values
 * @param snapshotId the id of the commit's snapshot, which entries without a snapshot id get
 */
final case class ManifestHeader(
    version: FormatVersion,
    content: ManifestContent,
    schema: Schema,
    spec: PartitionSpec,
    snapshotId: Long
) {

  /**
   * Returns the key-value metadata of the Avro file. Version 1 supports only data manifests and does not store the
   * content type.
   */
  private[manifestlist] def keyValues: Seq[(String, String)] = Seq(
    "schema" -> SchemaJson.toJson(schema),
    "schema-id" -> schema.schemaId.toString,
    "partition-spec" -> PartitionSpecJson.fieldsToJson(spec),
    ManifestHeader.SpecIdKey -> spec.specId.toString,
    "format-version" -> version.toString
  ) ++ (if (version > FormatVersion.V1) Seq(ManifestHeader.ContentKey -> content.name) else Seq.empty)
}

object ManifestHeader {
  private[manifestlist] val SpecIdKey = "partition-spec-id"
  private[manifestlist] val ContentKey = "content"
}

/**
 * The properties of a manifest list that is written (spec: "Manifest Lists").
 *
 * @param snapshotId the id of the snapshot
 * @param parentId the id of the parent snapshot
 * @param sequenceNumber the sequence number of the snapshot; not used in version 1
 * @param firstRowId the first row id of the snapshot; required in version 3
 */
final case class ManifestListHeader(
    version: FormatVersion,
    snapshotId: Long,
    parentId: Option[Long],
    sequenceNumber: Long,
    firstRowId: Option[Long]
) {

  /** Returns the key-value metadata of the Avro file. */
  private[manifestlist] def keyValues: Seq[(String, String)] =
    Seq("snapshot-id" -> snapshotId.toString, "parent-snapshot-id" -> parentId.fold("null")(_.toString)) ++
      (if (version >= FormatVersion.V2) Seq("sequence-number" -> sequenceNumber.toString) else Seq.empty) ++
      firstRowId.filter(_ => version >= FormatVersion.V3).map(id => "first-row-id" -> id.toString) ++
      Seq("format-version" -> version.toString)
}

object ManifestListHeader {

  /** Returns the header of the manifest list of an existing snapshot. */
  private[manifestlist] def of(version: FormatVersion, snapshot: Snapshot): ManifestListHeader = ManifestListHeader(
    version,
    snapshot.snapshotId,
    snapshot.parentSnapshotId,
    snapshot.sequenceNumber,
    snapshot.firstRowId
  )
}
