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
}
