package iceberglite.spark.procedure

/** The registry of procedures. */
object Procedures {

  /** All procedures, in the order of the documentation. */
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
