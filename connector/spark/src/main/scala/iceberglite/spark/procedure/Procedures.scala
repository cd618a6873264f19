package iceberglite.spark.procedure

/** The registry of procedures. */
object Procedures {

  /**
   * All procedures, in the order of the documentation. Consumers are streaming queries that read the table with the
   * option `consumer-id`. In format version 4, a table has a metadata tree instead of a manifest list with manifests,
   * and expressions, such as `bucket(16, id)`, whose values the metadata describes like the values of columns.
   */
  val all: Seq[Procedure] = Seq(
    RollbackToSnapshotProcedure,
    RollbackToTimestampProcedure,
    SetCurrentSnapshotProcedure,
    RestoreProcedure,
    CherrypickSnapshotProcedure,
    PublishChangesProcedure,
    FastForwardProcedure,
    MergeBranchProcedure,
    CommitTogetherProcedure,
    AlterTableProcedure,
    DescribeTableProcedure,
    AncestorsOfProcedure,
    ConsumersProcedure,
    DropConsumerProcedure,
    StreamWritersProcedure,
    DropStreamWriterProcedure,
    RegisterTableProcedure,
    RegisterViewProcedure,
    CloneProcedure,
    CreateChangelogViewProcedure,
    RollbackViewProcedure,
    ConvertEqualityDeletesProcedure,
    ExpireSnapshotsProcedure,
    RemoveOrphanFilesProcedure,
    RewriteDataFilesProcedure,
    RewriteManifestsProcedure,
    RewritePositionDeleteFilesProcedure,
    ComputePartitionStatsProcedure,
    ComputeTableStatsProcedure,
    ValidateTreeProcedure,
    ExpressionsProcedure,
    CreateExpressionProcedure,
    DropExpressionProcedure,
    MaintainProcedure,
    RewriteTablePathProcedure,
    AddFilesProcedure,
    SnapshotTableProcedure,
    MigrateTableProcedure
  )

  /** What to do instead of calling a procedure that does not exist, by the lower-case name of the procedure. */
  val replacements: Map[String, String] = Map(
    "unregister_table" ->
      ("DROP TABLE without PURGE keeps the files of a table, and register_table registers its newest metadata file, " +
        "which the metadata table metadata_log_entries lists before the drop")
  )
}
