package iceberglite.conformance

/** Spec: "Optimistic Concurrency", "Commit Conflict Resolution and Retry", "Snapshots", "Sequence Numbers". */
object CommitRules extends RuleBook("commits", "Commits and concurrency") {
  private val Retry = "Commit Conflict Resolution and Retry"
  private val Concurrency = "Optimistic Concurrency"
  private val Snapshots = "Snapshots"
  private val Numbers = "Sequence Numbers; Sequence Number Inheritance"
  private val References = "Snapshot References"
  private val Vectors = "Adopted version 3: Deletion vectors"
  private val transaction = "core/table/Transaction.scala"
  private val isolation = "core/table/Isolation.scala"
  private val rowDelta = "core/table/action/RowDelta.scala"
  private val targets = "core/table/action/DeleteTargets.scala"
  private val rewrite = "core/table/action/RewriteFiles.scala"

  val appendsReapply: Rule = rule(
    "appends-reapply",
    Retry,
    "An append can always be applied; its manifests of new files are used again by every attempt."
  )("core/table/action/FastAppend.scala", "core/tree/manifestlist/ManifestListWrite.scala")
  val schemaNotReapplied: Rule = rule(
    "schema-not-reapplied",
    Retry,
    "A change of schema or partition spec is not applied to a table whose schema or spec somebody else has changed."
  )("core/table/action/UpdateSchema.scala", "core/table/action/UpdateSpec.scala")
  val deletesReapply: Rule = rule(
    "deletes-reapply",
    Retry,
    "A delete by expression is applied again to the table as it is, rows that came meanwhile among them."
  )("core/table/action/DeleteFiles.scala")
  val filesThere: Rule = rule(
    "files-there",
    Retry,
    "What deletes, rewrites or replaces files fails where another commit has taken one of them away."
  )("core/table/action/NamedFiles.scala", targets)
  val unknownKept: Rule = rule(
    "unknown-kept",
    Concurrency,
    "After a commit of unknown outcome no file is removed; after a failed one those that it wrote are."
  )(transaction)
  val serializable: Rule = rule(
    "serializable",
    Concurrency,
    "Serializable: rows that others added fail a write whose predicate they may match."
  )(isolation)
  val snapshotIsolation: Rule = rule(
    "snapshot-isolation",
    Concurrency,
    "Snapshot: rows that others added are borne; rows that others deleted or changed are not."
  )(isolation)
  val disjoint: Rule = rule(
    "disjoint",
    Concurrency,
    "Changes to other partitions, to files whose bounds rule the predicate out, and to other files never conflict."
  )(isolation, "core/table/DeleteApplicability.scala")
  val lostUpdate: Rule = rule(
    "lost-update",
    Concurrency,
    "Two writers that change one row conflict; a deleted row does not come back in the version that another gave it."
  )(rowDelta)
  val globalDeletes: Rule = rule(
    "global-deletes",
    "Scan Planning",
    "Equality deletes of an unpartitioned spec concern a write to any partition."
  )("core/table/action/Removal.scala")
  val unitedVectors: Rule = rule(
    "united-vectors",
    Vectors,
    "Deletion vectors that two writers made of one data file become one, which replaces the entry of the other."
  )(rowDelta, "core/table/action/DeletionVectorMerge.scala")
  val operations: Rule = rule(
    "operations",
    Snapshots,
    "The operation says what was done: append, replace (the same rows in other files), overwrite, or delete, which " +
      "delete files alone are too."
  )(rowDelta, "core/table/action/Removal.scala", rewrite)
  val rewrittenNumber: Rule = rule(
    "rewritten-number",
    Numbers,
    "Compacted files are as old as the snapshot that was read: equality deletes committed since apply to them."
  )(rewrite)
  val rewriteConflicts: Rule = rule(
    "rewrite-conflicts",
    Numbers,
    "Compaction fails where a file that it read has new position deletes or a new deletion vector."
  )(rewrite)
  val manifestsRewritten: Rule = rule(
    "manifests-rewritten",
    "Manifests",
    "Manifests that are written anew list the same files, as existing, with their numbers, row ids and snapshots."
  )("core/tree/manifestlist/ManifestRewriter.scala", "core/table/action/RewriteManifests.scala")
  val staged: Rule = rule(
    "staged",
    References,
    "A staged snapshot is in the table and on no branch until it is picked."
  )("core/table/SnapshotTarget.scala", "core/table/action/CherryPick.scala")
  val branches: Rule = rule(
    "branches",
    References,
    "A snapshot of a branch follows the branch's head, moves that branch alone and keeps its retention."
  )("core/table/action/SnapshotAction.scala")
  val rollback: Rule = rule(
    "rollback",
    References,
    "A rollback goes to an ancestor of the current snapshot, and leaves the later snapshots in the table."
  )("core/table/action/Rollback.scala")
  val uncountedUpgrade: Rule = rule(
    "uncounted-upgrade",
    "Adopted version 3: Row lineage",
    "A table with a file that does not count its rows is not upgraded to version 3."
  )("core/table/action/UpgradeVersion.scala")
}
