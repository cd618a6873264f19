package iceberglite.conformance

/** Spec: "Table Metadata", "Snapshots", "Snapshot Reference", "Snapshot Retention Policy", "Appendix E"; view spec. */
object MetadataRules extends RuleBook("metadata", "Table and view metadata") {
  private val Fields = "Table Metadata Fields"
  private val Fold = "spec/update/MetadataFold.scala"
  private val Reader = "spec/json/TableMetadataReader.scala"
  private val Check = "spec/json/TableMetadataCheck.scala"
  private val Snapshots = "spec/update/Snapshots.scala"
  private val Views = "spec/update/ViewFold.scala"

  val supportedVersions: Rule =
    rule("supported-versions", Fields, "A table of a version above those supported is refused.")(Reader)
  val requiredFields: Rule =
    rule("required-fields", Fields, "What a version of the format requires must be there.")(Reader)
  val uuid: Rule = rule("uuid", Fields, "A table's UUID never changes; another one is an error.")(
    "spec/update/Requirement.scala",
    "spec/update/Tables.scala"
  )
  val assignedIds: Rule = rule(
    "assigned-ids",
    Fields,
    "The last ids of columns and partition fields are never below those in use, so that no id is given twice."
  )(Reader, "spec/update/Schemas.scala", "spec/update/Specs.scala")
  val uniqueIds: Rule =
    rule("unique-ids", Fields, "No two schemas, specs, orders or snapshots have one id.")(Check)
  val currentSchema: Rule = rule(
    "current-schema",
    Fields,
    "The current schema, the default spec and the default order are among those listed."
  )(Reader, Fold)
  val defaultsBind: Rule = rule(
    "defaults-bind",
    Fields,
    "The default spec and order are made from columns of the current schema; earlier ones may name dropped columns."
  )(Check, Fold)
  val noSnapshot: Rule = rule(
    "no-snapshot",
    "Metadata, as adopted",
    "Without a current snapshot versions 1 and 2 write -1 and version 3 nothing; each is read."
  )(Reader, "spec/json/TableMetadataWriter.scala")
  val mainBranch: Rule = rule(
    "main-branch",
    Fields,
    "There is always a branch main at the current snapshot, also where refs are left out; it is never a tag."
  )(Reader, "spec/metadata/Snapshot.scala")
  val refsExist: Rule =
    rule("refs-exist", "Snapshot Reference", "A reference stands at a snapshot that the table has.")(Check, Snapshots)
  val refRetentionPositive: Rule =
    rule("ref-retention-positive", "Snapshot Reference", "What a reference says of its retention is positive.")(
      "spec/metadata/Snapshot.scala"
    )
  val sequenceNumbers: Rule = rule(
    "sequence-numbers",
    "Snapshots",
    "Sequence numbers only grow, and the table's last is at least that of each snapshot; version 1 has none."
  )(Check, Snapshots)
  val snapshotIds: Rule =
    rule("snapshot-ids", "Metadata, as adopted", "A new snapshot has a positive id that no other has.")(Snapshots)
  val commitTimes: Rule = rule(
    "commit-times",
    Fields,
    "Times do not run backwards, but for a minute by which two clocks may differ."
  )(Check, Snapshots, Fold)
  val snapshotLog: Rule = rule(
    "snapshot-log",
    Fields,
    "The snapshot log grows only when the current snapshot changes, with the time of the change."
  )(Snapshots, Fold)
  val snapshotLogExpiry: Rule =
    rule("snapshot-log-expiry", Fields, "With an expired snapshot goes all of the log before it.")(Snapshots)
  val metadataLog: Rule = rule(
    "metadata-log",
    Fields,
    "Each version adds the file of the one before, and the oldest entries go where there are too many."
  )("spec/metadata/MetadataLog.scala")
  val upgrade: Rule = rule(
    "upgrade",
    "Appendix E: Format version changes",
    "The version goes up only; sequence numbers of version 1 are 0, and rows from before version 3 have no ids."
  )("spec/update/Tables.scala", "spec/json/SnapshotJson.scala")
  val version1Defaults: Rule = rule(
    "version-1-defaults",
    "Appendix E: Format version changes",
    "What version 1 leaves out is filled in: one schema, one spec, ids from 1000, the unsorted order."
  )(Reader)
  val version1Writing: Rule = rule(
    "version-1-writing",
    "Appendix E: Format version changes",
    "Version 1 is written without sequence numbers and with the single schema and spec of old readers."
  )("spec/json/TableMetadataWriter.scala", "spec/json/SnapshotJson.scala")
  val nextRowId: Rule = rule(
    "next-row-id",
    "Row lineage",
    "A snapshot starts at the table's next row id and takes its added rows, on every branch; ids are never given twice."
  )(Snapshots, Reader)
  val encryption: Rule = rule(
    "encryption",
    "Metadata, as adopted",
    "Files of an encrypted table are neither read nor written; the refusal names the key."
  )("spec/metadata/Encryption.scala", "core/tree/MetadataTree.scala", "spec/update/Tables.scala")
  val statistics: Rule = rule(
    "statistics",
    "Table Statistics",
    "A snapshot has one statistics file of a kind, which goes with it; the snapshot's id is read as text too."
  )("spec/update/StatisticsFiles.scala", "spec/json/StatisticsJson.scala")
  val removals: Rule = rule(
    "removals",
    "REST catalog",
    "Schemas and specs that nothing uses can be removed, the current ones cannot."
  )("spec/update/Schemas.scala", "spec/update/Specs.scala")
  val reuse: Rule = rule(
    "reuse",
    "Partition Evolution",
    "A schema, spec or order equal to an earlier one is that one again."
  )("spec/update/Schemas.scala", "spec/update/Specs.scala", "spec/update/SortOrders.scala")
  val lastAdded: Rule =
    rule("last-added", "REST catalog", "-1 stands for what the same change added last.")(Fold)
  val intermediates: Rule = rule(
    "intermediates",
    Fields,
    "Snapshots that were never current by themselves, as one commit made several, are not logged."
  )(Fold)
  val ancestors: Rule =
    rule("ancestors", "Snapshots", "The parents of a snapshot come to an end, also where they go in a circle.")(
      "spec/metadata/TableMetadata.scala"
    )

  private val Policy = "Snapshot Retention Policy"
  val retention: Rule = rule(
    "retention",
    Policy,
    "Kept are the snapshots of references and a branch's ancestors until one is both too old and beyond the number."
  )("spec/table/Retention.scala")
  val refRetention: Rule =
    rule("ref-retention", Policy, "References whose snapshot is too old go, but main never does.")(
      "spec/table/Retention.scala"
    )
  val stagedRetention: Rule = rule(
    "staged-retention",
    Policy + ", as in Apache Iceberg",
    "A snapshot to which no reference leads lives until the table's age limit."
  )("spec/table/Retention.scala")

  val viewVersions: Rule = rule(
    "view-versions",
    "View spec: Versions",
    "Versions count from 1 and never change; each that becomes current is logged with its time."
  )(Views)
  val viewRollback: Rule =
    rule("view-rollback", "View spec, as adopted", "A roll-back adds an entry to the log and no version.")(Views)
  val viewVersionReuse: Rule =
    rule("view-version-reuse", "View spec, as adopted", "An identical version is used again.")(Views)
  val viewHistory: Rule = rule(
    "view-history",
    "View spec: Versions",
    "version.history.num-entries bounds the versions, and never expires the current one."
  )(Views)
  val viewUuid: Rule =
    rule("view-uuid", "View spec, as adopted", "A view's UUID never changes; another one is an error.")(
      Views,
      "spec/update/Requirement.scala"
    )
  val viewDialects: Rule = rule(
    "view-dialects",
    "View spec, as adopted",
    "A version has one query for each dialect, and a replacement keeps those of before unless it may drop them."
  )(Views)
}
