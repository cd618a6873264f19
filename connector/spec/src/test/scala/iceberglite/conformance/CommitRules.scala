package iceberglite.conformance

/**
 * Rules of the specification sections "Optimistic Concurrency", "Commit Conflict Resolution and Retry", "Snapshots" and
 * "Sequence Numbers".
 */
object CommitRules extends RuleBook("commits", "Commits and concurrency") {
  private val Retry = "Commit Conflict Resolution and Retry"
  private val Concurrency = "Optimistic Concurrency"
  private val Snapshots = "Snapshots"
  private val Numbers = "Sequence Numbers; Sequence Number Inheritance"
  private val References = "Snapshot References"
  private val Vectors = "Deletion vectors (adopted version 3)"
  private val transaction = "core/table/Transaction.scala"
  private val isolation = "core/table/conflict/Isolation.scala"
  private val rowDelta = "core/table/action/RowDelta.scala"
  private val targets = "core/table/action/RowDeltaTargets.scala"
  private val rewrite = "core/table/action/RewriteFiles.scala"

  val appendsReapply: Rule = rule(
    "appends-reapply",
    Retry,
    "An append never conflicts; a retry reuses the manifests of new files that an earlier attempt wrote."
  )("core/table/action/FastAppend.scala", "core/tree/manifestlist/ManifestListWriter.scala")
  val schemaNotReapplied: Rule = rule(
    "schema-not-reapplied",
    Retry,
    "A change to columns or partitioning is not retried if the schema or partition spec was changed concurrently."
  )("core/table/action/UpdateSchema.scala", "core/table/action/UpdatePartitionSpec.scala")
  val deletesReapply: Rule = rule(
    "deletes-reapply",
    Retry,
    "A delete by expression is applied again to the current table, including rows added concurrently."
  )("core/table/action/DeleteFiles.scala")
  val filesStillExist: Rule = rule(
    "files-there",
    Retry,
    "Deletes, rewrites and replacements of files fail if another commit has removed one of these files."
  )("core/table/action/NamedFiles.scala", targets)
  val unknownKept: Rule = rule(
    "unknown-kept",
    Concurrency,
    "No file is removed after a commit with an unknown outcome; a failed commit removes the files it wrote."
  )(transaction)
  val serializable: Rule = rule(
    "serializable",
    Concurrency,
    "Serializable isolation: rows added concurrently conflict with a write whose predicate they may match."
  )(isolation)
  val snapshotIsolation: Rule = rule(
    "snapshot-isolation",
    Concurrency,
    "Snapshot isolation: rows added concurrently are tolerated; concurrent deletes and updates conflict."
  )(isolation)
  val disjoint: Rule = rule(
    "disjoint",
    Concurrency,
    "Changes to other partitions, to files whose bounds rule out the predicate, and to other files never conflict."
  )(isolation, "core/table/conflict/DeleteApplicability.scala")
  val lostUpdate: Rule = rule(
    "lost-update",
    Concurrency,
    "Two writers that update the same row conflict; a deleted row does not reappear because another writer updated it."
  )(rowDelta)
  val globalDeletes: Rule = rule(
    "global-deletes",
    "Scan Planning",
    "Equality deletes with an unpartitioned partition spec can conflict with a write to any partition."
  )("core/table/action/Removal.scala")
  val unitedVectors: Rule = rule(
    "united-vectors",
    Vectors,
    "Deletion vectors that two writers created for one data file are merged into one vector, which replaces the " +
      "first writer's vector."
  )(rowDelta, "core/table/action/DeletionVectorMerge.scala")
  val operations: Rule = rule(
    "operations",
    Snapshots,
    "The operation of a snapshot is append, replace (the same rows in other files), overwrite, or delete (also if " +
      "only delete files are added)."
  )(rowDelta, "core/table/action/Removal.scala", rewrite)
  val rewrittenNumber: Rule = rule(
    "rewritten-number",
    Numbers,
    "Compacted files get the sequence number of the snapshot that was read, so later equality deletes apply to them."
  )(rewrite)
  val rewriteConflicts: Rule = rule(
    "rewrite-conflicts",
    Numbers,
    "Compaction that does not carry deletes over to the new files fails if a file that it read has new position " +
      "deletes or a new deletion vector."
  )(rewrite)
  val manifestsRewritten: Rule = rule(
    "manifests-rewritten",
    "Manifests",
    "Rewritten manifests list the same files with the status EXISTING, and keep their sequence numbers, row ids and " +
      "snapshot ids."
  )("core/tree/manifestlist/ManifestRewriter.scala", "core/table/action/RewriteManifests.scala")
  val staged: Rule = rule(
    "staged",
    References,
    "A staged snapshot belongs to the table, but to no branch until it is published."
  )("core/table/SnapshotTarget.scala", "core/table/action/CherryPick.scala")
  val branches: Rule = rule(
    "branches",
    References,
    "A commit to a branch adds a snapshot whose parent is the head of the branch, moves only this branch, and keeps " +
      "its retention settings."
  )("core/table/action/SnapshotAction.scala")
  val rollback: Rule = rule(
    "rollback",
    References,
    "A rollback sets the current snapshot to an ancestor and keeps the later snapshots in the table."
  )("core/table/action/Rollback.scala")
  val uncountedUpgrade: Rule = rule(
    "uncounted-upgrade",
    "Row lineage (adopted version 3)",
    "A table with a data file without a record count is not upgraded to version 3."
  )("core/table/action/UpgradeVersion.scala")
}
