package iceberglite.spark.conf

import scala.util.Try

import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}
import iceberglite.spec.schema.Schema

/** The snapshot of a table that a read selects. */
sealed trait TimeTravel {

  /**
   * Returns the selected snapshot; absent for an empty table.
   *
   * @throws NotFound if the snapshot, branch or tag does not exist
   * @throws InvalidArgument if a tag is selected as a branch, or a branch as a tag, or if the snapshot log has no entry
   *   up to the selected timestamp
   */
  def snapshot(table: TableMetadata): Option[Snapshot]

  /**
   * Returns the schema for reading the snapshot. The current snapshot and branches are read with the current schema of
   * the table. Other selections are read with the schema of the snapshot.
   */
  def schema(table: TableMetadata): Schema = snapshot(table).fold(table.schema)(table.schemaOf)

  /**
   * Returns whether another snapshot may be selected after later commits. This also holds for a tag, because a tag can
   * be moved to another snapshot.
   */
  def canChange(table: TableMetadata): Boolean

  /**
   * Returns the selection as text. For snapshot ids, timestamps, branches and tags, it is the last part of a table's
   * name, such as `branch_b`. It is empty for [[TimeTravel.Latest]].
   */
  def selector: String
}

object TimeTravel {

  /** The current snapshot of the table. */
  case object Latest extends TimeTravel {
    override def snapshot(table: TableMetadata): Option[Snapshot] = table.currentSnapshot
    override def schema(table: TableMetadata): Schema = table.schema
    override def canChange(table: TableMetadata): Boolean = true
    override def selector: String = ""
  }

  final case class AtSnapshot(id: Long) extends TimeTravel {
    override def snapshot(table: TableMetadata): Option[Snapshot] = Some(table.snapshot(id))
    override def canChange(table: TableMetadata): Boolean = false
    override def selector: String = s"$SnapshotPrefix$id"
  }

  /** The snapshot that was current at a given time. @param epochMs the time in milliseconds since the epoch */
  final case class AtTimestamp(epochMs: Long) extends TimeTravel {
    override def snapshot(table: TableMetadata): Option[Snapshot] = Some(table.snapshotAsOf(epochMs))
    override def canChange(table: TableMetadata): Boolean = false
    override def selector: String = s"$TimestampPrefix$epochMs"
  }

  final case class OnBranch(name: String) extends TimeTravel {
    override def snapshot(table: TableMetadata): Option[Snapshot] = refOf(table, name) match {
      case Some(_: SnapshotRef.Tag) =>
        throw InvalidArgument(
          "branch",
          name,
          "It is a tag. Use the read option tag, or append .tag_<name> to the table name"
        )
      case _ => snapshotOf(table, ObjectKind.Branch, name)
    }
    override def schema(table: TableMetadata): Schema = {
      snapshot(table)
      table.schema
    }
    override def canChange(table: TableMetadata): Boolean = true
    override def selector: String = s"$BranchPrefix$name"
  }

  final case class OnTag(name: String) extends TimeTravel {
    override def snapshot(table: TableMetadata): Option[Snapshot] = refOf(table, name) match {
      case Some(_: SnapshotRef.Branch) =>
        throw InvalidArgument(
          "tag",
          name,
          "It is a branch. Use the read option branch, or append .branch_<name> to the table name"
        )
      case _ => snapshotOf(table, ObjectKind.Tag, name)
    }
    override def canChange(table: TableMetadata): Boolean = true
    override def selector: String = s"$TagPrefix$name"
  }

  /**
   * The value of `VERSION AS OF`: the id of a snapshot, or the name of a branch or tag. If both exist, the snapshot
   * takes precedence.
   */
  final case class AtVersion(version: String) extends TimeTravel {
    private def resolved(table: TableMetadata): TimeTravel = {
      val id = Try(version.toLong).toOption
      refOf(table, version) match {
        case _ if id.exists(table.snapshotsById.contains) => AtSnapshot(version.toLong)
        case Some(_: SnapshotRef.Tag) => OnTag(version)
        case Some(_: SnapshotRef.Branch) => OnBranch(version)
        case None if version == SnapshotRef.Main => OnBranch(version)
        case None => id.fold[TimeTravel](throw noSuchRef(ObjectKind.SnapshotOrRef, version, table))(AtSnapshot)
      }
    }
    override def snapshot(table: TableMetadata): Option[Snapshot] = resolved(table).snapshot(table)
    override def schema(table: TableMetadata): Schema = resolved(table).schema(table)
    override def canChange(table: TableMetadata): Boolean = resolved(table).canChange(table)
    override def selector: String = version
  }

  private val SnapshotPrefix = "snapshot_id_"
  private val TimestampPrefix = "at_timestamp_"
  private val BranchPrefix = "branch_"
  private val TagPrefix = "tag_"

  /** Parses the last part of a table's name, if it selects a snapshot: `at_timestamp_<ms>`, `tag_<name>`... */
  def ofSelector(part: String): Option[TimeTravel] = {
    def suffix(prefix: String): Option[String] =
      Some(part).filter(p => p.length > prefix.length && p.toLowerCase.startsWith(prefix)).map(_.drop(prefix.length))
    def number(prefix: String): Option[Long] = suffix(prefix).flatMap(text => Try(text.toLong).toOption)
    number(SnapshotPrefix).map(AtSnapshot)
      .orElse(number(TimestampPrefix).map(AtTimestamp))
      .orElse(suffix(BranchPrefix).map(OnBranch))
      .orElse(suffix(TagPrefix).map(OnTag))
  }

  /** The options that select a snapshot, each with a parser of its values. */
  private val options: Seq[(String, (String, String) => TimeTravel)] = Seq(
    "snapshot-id" -> ((key, value) => AtSnapshot(RangeOptions.long(key, value))),
    "as-of-timestamp" -> ((key, value) => AtTimestamp(RangeOptions.long(key, value))),
    "branch" -> ((_, value) => OnBranch(value)),
    "tag" -> ((_, value) => OnTag(value)),
    "versionAsOf" -> ((_, value) => AtVersion(value)),
    "timestampAsOf" -> ((key, value) => AtTimestamp(timestamp(key, value)))
  )

  /** The names of the read options that select a snapshot. */
  val optionKeys: Seq[String] = options.map(_._1)

  /**
   * Returns the selection that the options request.
   *
   * @throws InvalidArgument if more than one of the options is set, or a value is invalid
   */
  def ofOptions(readOptions: CaseInsensitiveStringMap): TimeTravel =
    options.filter(o => readOptions.containsKey(o._1)) match {
      case Seq() => Latest
      case Seq((key, parse)) => parse(key, readOptions.get(key))
      case several => throw InvalidArgument(
          "read options",
          several.map { case (key, _) => s"$key=${readOptions.get(key)}" }.mkString(", "),
          "Only one of these options may be set"
        )
    }

  /**
   * Parses a timestamp in the session's time zone, or a number of seconds since the epoch. Returns milliseconds since
   * the epoch.
   */
  private def timestamp(key: String, value: String): Long = {
    val zone = DateTimeUtils.getZoneId(SQLConf.get.sessionLocalTimeZone)
    Try(Math.multiplyExact(value.trim.toLong, 1000L)).toOption
      .orElse(DateTimeUtils.stringToTimestamp(UTF8String.fromString(value), zone).map(Math.floorDiv(_, 1000L)))
      .getOrElse(throw InvalidArgument(
        s"option $key",
        value,
        "It must be a timestamp such as 2024-01-31 12:00:00 or whole seconds since 1970"
      ))
  }

  private def refOf(table: TableMetadata, name: String): Option[SnapshotRef] = table.refs.get(name)

  private def snapshotOf(table: TableMetadata, kind: ObjectKind, name: String): Option[Snapshot] =
    if (name == SnapshotRef.Main || table.refs.contains(name)) table.snapshotOf(name)
    else throw noSuchRef(kind, name, table)

  /** Returns the branch or tag with the given name. */
  def ref(table: TableMetadata, name: String): SnapshotRef =
    table.refs.getOrElse(name, throw noSuchRef(ObjectKind.BranchOrTag, name, table))

  private def noSuchRef(kind: ObjectKind, name: String, table: TableMetadata): NotFound =
    NotFound(kind, name, knownRefs(table))

  /** Lists the branches and tags, for messages. */
  def knownRefs(table: TableMetadata): String = {
    val refs = table.refs.toSeq.sortBy(_._1).map { case (name, ref) => s"${ref.kind} $name" }
    if (refs.isEmpty) "The table has no branches or tags"
    else s"The table has ${refs.mkString(", ")}"
  }
}
