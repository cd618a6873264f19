package iceberglite.spark.procedure

/** The registry of procedures. */
object Procedures {

  /** All procedures, in the order of the documentation. */
  val all: Seq[Procedure] = Seq(
    RollbackToSnapshot,
    RollbackToTimestamp,
    SetCurrentSnapshot,
    Restore,
    CherrypickSnapshot,
    PublishChanges,
    FastForward,
    AncestorsOf,
    RegisterTable,
    Clone,
    CreateChangelogView,
    RollbackView,
    ConvertEqualityDeletes,
    ExpireSnapshots,
    RemoveOrphanFiles,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
    ComputePartitionStats,
    ComputeTableStats,
    Maintain,
    RewriteTablePath,
    AddFiles,
    SnapshotTable,
    MigrateTable
  )
}
