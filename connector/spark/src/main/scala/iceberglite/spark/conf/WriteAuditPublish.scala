package iceberglite.spark.conf

import org.apache.spark.sql.SparkSession

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.{SummaryKey, TableMetadata}
import iceberglite.spec.property.TableProperty
import iceberglite.table.{SnapshotTarget, Table}

/**
 * Write-audit-publish (WAP). With the table property `write.wap.enabled`, the writes of a session can be audited before
 * they are visible to other sessions. With `spark.wap.id`, a write is staged as a snapshot that no branch or tag refers
 * to. With `spark.wap.branch`, a write is committed to a branch, and the session then reads this branch instead of the
 * branch `main`.
 */
object WriteAuditPublish {
  val IdKey = "spark.wap.id"
  val BranchKey = "spark.wap.branch"

  /** The target of a write, and the entries that the write adds to the snapshot summary. */
  final case class Target(snapshotTarget: SnapshotTarget, summary: Map[String, String] = Map.empty)

  /**
   * Returns the target of a write.
   *
   * @param branch the branch that the statement names; absent if the statement names no branch
   * @throws InvalidArgument if the session and the statement request contradictory targets
   * @throws iceberglite.spec.IcebergError.NotFound if the branch that the statement names does not exist
   */
  def target(table: Table, branch: Option[String], session: SparkSession): Target = {
    val requested = Target(branch.fold[SnapshotTarget](SnapshotTarget.Main)(SnapshotTarget.Branch(_)))
    val target = settings(table.metadata, session) match {
      case SessionValues(None, None) => requested
      case SessionValues(Some(id), Some(audit)) =>
        throw InvalidArgument(s"$IdKey and $BranchKey", s"$id and $audit", "Only one of them may be set")
      case SessionValues(Some(id), None) =>
        branch.foreach(reject(table, IdKey, id, _))
        Target(SnapshotTarget.Staged, Map(SummaryKey.WapId -> id))
      case SessionValues(None, Some(audit)) =>
        branch.filter(_ != audit).foreach(reject(table, BranchKey, audit, _))
        Target(SnapshotTarget.Branch(audit, create = true))
    }
    target.snapshotTarget.head(table.metadata)
    target
  }

  /** Returns the branch that the session reads instead of the branch `main`, if that branch exists. */
  def branchToRead(table: TableMetadata, session: SparkSession): Option[String] =
    settings(table, session).branch.filter(table.refs.contains)

  private case class SessionValues(id: Option[String], branch: Option[String])

  private def settings(table: TableMetadata, session: SparkSession): SessionValues =
    if (!TableProperty.of(TableProperty.WriteAuditPublish, table.properties)) SessionValues(None, None)
    else SessionValues(setting(session, IdKey), setting(session, BranchKey))

  /**
   * Returns the value of a setting. An empty value is an error, because it is more likely a mistake than a request to
   * turn WAP off.
   */
  private def setting(session: SparkSession, key: String): Option[String] = {
    val value = Settings.inSession(session, key)
    value.filter(_.trim.isEmpty).foreach(v => throw InvalidArgument(key, v, s"It is empty; unset it with RESET $key"))
    value
  }

  private def reject(table: Table, key: String, value: String, branch: String): Nothing = throw InvalidArgument(
    s"branch to write to in ${table.name}",
    branch,
    s"The session has $key=$value, and the table has write.wap.enabled=true, so that writes cannot name a branch. " +
      s"To write to this branch, run RESET $key"
  )
}
