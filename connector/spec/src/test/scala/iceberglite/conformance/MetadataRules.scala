package iceberglite.conformance

/**
 * Rules of the specification sections "Table Metadata", "Snapshots", "Snapshot Reference", "Snapshot Retention Policy"
 * and "Appendix E", and of the view specification.
 *
 * If a section name contains "adopted", it refers to the text that the Iceberg community adopted by vote. Drafts of
 * version 3 and of the view specification differ from this text.
 */
object MetadataRules extends RuleBook("metadata", "Table and view metadata") {
  private val Fields = "Table Metadata Fields"
  private val Builder = "spec/update/MetadataBuilder.scala"
  private val Reader = "spec/json/TableMetadataReader.scala"
  private val Check = "spec/json/TableMetadataCheck.scala"
  private val Snapshots = "spec/update/Snapshots.scala"
  private val Views = "spec/update/ViewMetadataBuilder.scala"

  val supportedVersions: Rule = rule(
    "supported-versions",
    Fields,
    "A table with a format version above the supported versions is rejected."
  )(Reader)
  val requiredFields: Rule = rule(
    "required-fields",
    Fields,
    "The fields that a format version requires must be present."
  )(Reader)
  val uuid: Rule = rule("uuid", Fields, "A table's UUID never changes; a different UUID is an error.")(
    "spec/update/Requirement.scala",
    "spec/update/WholeTableUpdates.scala"
  )
  val assignedIds: Rule = rule(
    "assigned-ids",
    Fields,
    "The last assigned column and partition field ids are never below the ids in use, so that no id is assigned twice."
  )(Reader, "spec/update/Schemas.scala", "spec/update/Specs.scala")
  val uniqueIds: Rule = rule(
    "unique-ids",
    Fields,
    "Schemas, partition specs, sort orders and snapshots have unique ids."
  )(Check)
  val currentSchema: Rule = rule(
    "current-schema",
    Fields,
    "The current schema, default partition spec and default sort order exist."
  )(Reader, Builder)
  val defaultsBind: Rule = rule(
    "defaults-bind",
    Fields,
    "The default partition spec and sort order use current columns; other specs and orders may use dropped columns."
  )(Check, Builder)
  val noSnapshot: Rule = rule(
    "no-snapshot",
    "Table Metadata Fields (adopted version 3)",
    "Without a current snapshot, versions 1 and 2 write the current-snapshot-id -1, and version 3 omits the field. " +
      "The value -1, null and a missing field are read."
  )(Reader, "spec/json/TableMetadataWriter.scala")
  val mainBranch: Rule = rule(
    "main-branch",
    Fields,
    "The branch main always points to the current snapshot, even if the metadata has no refs; main is never a tag."
  )(Reader, "spec/metadata/Snapshot.scala")
  val refsExist: Rule = rule(
    "refs-exist",
    "Snapshot Reference",
    "A reference points to an existing snapshot."
  )(Check, Snapshots)
  val refRetentionPositive: Rule = rule(
    "ref-retention-positive",
    "Snapshot Reference",
    "The retention settings of a reference are positive."
  )(
    "spec/metadata/Snapshot.scala"
  )
  val sequenceNumbers: Rule = rule(
    "sequence-numbers",
    "Snapshots",
    "Sequence numbers increase, and no snapshot has a number above last-sequence-number; version 1 has none."
  )(Check, Snapshots)
  val snapshotIds: Rule = rule(
    "snapshot-ids",
    "Snapshots (adopted version 3)",
    "A new snapshot has a positive, unique id."
  )(Snapshots)
  val commitTimes: Rule = rule(
    "commit-times",
    Fields,
    "The timestamps of snapshots and log entries do not decrease by more than one minute, the allowed clock skew."
  )(Check, Snapshots, Builder)
  val snapshotLog: Rule = rule(
    "snapshot-log",
    Fields,
    "The snapshot log gets an entry only when the current snapshot changes, with the time of the change."
  )(Snapshots, Builder)
  val snapshotLogExpiry: Rule = rule(
    "snapshot-log-expiry",
    Fields,
    "Expiring a snapshot removes its log entry and all earlier log entries."
  )(Snapshots)
  val metadataLog: Rule = rule(
    "metadata-log",
    Fields,
    "Each table version adds the previous metadata file to the metadata log; the oldest entries are removed if the " +
      "log exceeds its maximum length."
  )("spec/metadata/MetadataLog.scala")
  val upgrade: Rule = rule(
    "upgrade",
    "Appendix E: Format version changes",
    "The format version only increases. After an upgrade, snapshots of version 1 have the sequence number 0, and " +
      "rows from before version 3 have no row ids."
  )("spec/update/WholeTableUpdates.scala", "spec/json/SnapshotJson.scala")
  val version1Defaults: Rule = rule(
    "version-1-defaults",
    "Appendix E: Format version changes",
    "Fields that version 1 metadata omits get defaults: one schema, one partition spec with field ids from 1000, " +
      "and the unsorted order."
  )(Reader)
  val version1Writing: Rule = rule(
    "version-1-writing",
    "Appendix E: Format version changes",
    "Version 1 metadata is written without sequence numbers, and with the fields schema and partition-spec for old " +
      "readers."
  )("spec/json/TableMetadataWriter.scala", "spec/json/SnapshotJson.scala")
  val nextRowId: Rule = rule(
    "next-row-id",
    "Row lineage",
    "The row ids of a new snapshot start at the table's next-row-id, which the snapshot increases by its number of " +
      "added rows, on every branch; row ids are unique."
  )(Snapshots, Reader)
  val encryption: Rule = rule(
    "encryption",
    "Table Metadata Fields (adopted version 3)",
    "The property encryption.key-id makes a table of version 3 or later encrypted; it is set only when the table is " +
      "created, and files of the table are read and written only with its keys."
  )("spec/metadata/Encryption.scala", "core/encryption/TableKeys.scala", "core/tree/MetadataTree.scala")
  val encryptionKeys: Rule = rule(
    "encryption-keys",
    "Table Metadata Fields (adopted version 3)",
    "The key-id of a snapshot refers to the encrypted key metadata of its manifest list in encryption-keys; the key " +
      "that encrypts it is encrypted by the table's key and is replaced after two years."
  )("core/encryption/TableKeys.scala", "core/table/action/SnapshotAction.scala")
  val keyMetadata: Rule = rule(
    "key-metadata",
    "Data File Fields",
    "The key_metadata of a file contains its key, the identity of the file and the length of the encrypted file, in " +
      "the form that Apache Iceberg writes."
  )("core/encryption/FileKey.scala", "core/encryption/KeyMetadataCodec.scala")
  val gcmStreams: Rule = rule(
    "gcm-streams",
    "AES GCM Stream file format",
    "An encrypted metadata file consists of blocks, each with a random nonce and a tag that authenticates its " +
      "content, its position and its file; no byte of a file with a wrong, moved or missing block is returned."
  )("core/encryption/GcmBlocks.scala", "core/storage/GcmDecryption.scala", "core/storage/EncryptedFileIO.scala")
  val statistics: Rule = rule(
    "statistics",
    "Table Statistics",
    "A snapshot has at most one statistics file of each kind, which expires with the snapshot; a snapshot id in text " +
      "form is also read."
  )("spec/update/StatisticsFiles.scala", "spec/json/StatisticsJson.scala")
  val removals: Rule = rule(
    "removals",
    "REST catalog",
    "Unused schemas and partition specs can be removed; the current schema and default spec cannot be removed."
  )("spec/update/Schemas.scala", "spec/update/Specs.scala")
  val reuse: Rule = rule(
    "reuse",
    "Partition Evolution",
    "A new schema, partition spec or sort order that equals an existing one is not added, and the existing one is used."
  )("spec/update/Schemas.scala", "spec/update/Specs.scala", "spec/update/SortOrders.scala")
  val lastAdded: Rule = rule(
    "last-added",
    "REST catalog",
    "The id -1 refers to the schema, partition spec or sort order that the same commit added last."
  )(Builder)
  val intermediates: Rule = rule(
    "intermediates",
    Fields,
    "Snapshots that were current only within one commit are not logged."
  )(Builder)
  val ancestors: Rule = rule(
    "ancestors",
    "Snapshots",
    "Listing the ancestors of a snapshot terminates, even if the parents form a cycle."
  )(
    "spec/metadata/TableMetadata.scala"
  )

  private val Policy = "Snapshot Retention Policy"
  val retention: Rule = rule(
    "retention",
    Policy,
    "A reference keeps its snapshot. A branch also keeps the ancestors of its head, up to the first ancestor that is " +
      "both older than the maximum age and beyond the minimum number of snapshots to keep."
  )("spec/table/Retention.scala")
  val refRetention: Rule = rule(
    "ref-retention",
    Policy,
    "A branch or tag whose snapshot is older than its maximum reference age expires; main never expires."
  )(
    "spec/table/Retention.scala"
  )
  val stagedRetention: Rule = rule(
    "staged-retention",
    Policy + ", as in Apache Iceberg",
    "A snapshot that no reference reaches is kept until the table's age limit."
  )("spec/table/Retention.scala")

  val viewVersions: Rule = rule(
    "view-versions",
    "View spec: Versions",
    "Version ids start at 1 and never change; each version that becomes current is logged with its time."
  )(Views)
  val viewRollback: Rule = rule(
    "view-rollback",
    "View spec: Version Log (adopted version 1)",
    "A rollback adds an entry to the version log, and no version."
  )(Views)
  val viewVersionReuse: Rule = rule(
    "view-version-reuse",
    "View spec: Versions (adopted version 1)",
    "A new version that equals an existing version is not added, and the existing version is used."
  )(Views)
  val viewHistory: Rule = rule(
    "view-history",
    "View spec: Versions",
    "version.history.num-entries limits the number of versions; the current version never expires."
  )(Views)
  val viewUuid: Rule = rule(
    "view-uuid",
    "View spec: View Metadata (adopted version 1)",
    "A view's UUID never changes; a different UUID is an error."
  )(
    Views,
    "spec/update/Requirement.scala"
  )
  val viewDialects: Rule = rule(
    "view-dialects",
    "View spec: Representations (adopted version 1)",
    "A version has one query per dialect. A replacement keeps all dialects of the replaced version, unless the view " +
      "property replace.drop-dialect.allowed is true."
  )(Views)
}
