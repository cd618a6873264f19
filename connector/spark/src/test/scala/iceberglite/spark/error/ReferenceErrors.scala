package iceberglite.spark.error

import iceberglite.spec.IcebergError._
import iceberglite.spec.{IcebergError, ObjectKind, Place}

/**
 * A sample of each error with a condition, and the action to take. `docs/reference.md` has a row for each condition,
 * with the condition, the SQL state and the message of the sample. The names of fields in angle brackets stand for the
 * values of an error.
 */
private[iceberglite] object ReferenceErrors {

  /** A row of the page. */
  final case class Row(condition: String, sqlState: String, message: String, action: String)

  private val Table = "<table>"

  /** One sample of each error that is not about a missing or existing object. */
  private val others: Seq[IcebergError] = Seq(
    InvalidArgument("<parameter>", "<value>", "<what is allowed>"),
    CommitConflict(Table, "<other commit>"),
    ConcurrentChange("<reason>"),
    CommitStateUnknown(Table, Some("<metadata file>"), "<reason>", None),
    ValidationFailed("<reason>"),
    AlreadyCommitted(Table, "<application>", version = 7, last = 8),
    NullInRequired("<column>"),
    CheckViolated(Table, "<constraint>", "<condition>", "<values>"),
    GeneratedColumnMismatch(Table, "<column>", "<expression>", "<values>"),
    ColumnWidened(Table, "<column>", "<type>", "<new type>"),
    ColumnExists("add", "<column>", "<type of the table's columns>"),
    ViewPropertyNotFound("<view>", "<key>"),
    StorageFailed("<operation>", Place.Path("<place>"), "<reason>"),
    UnreadableFile("<file>", "<role>", "<reason>"),
    InvalidMetadata("<file>", "<position>", "<reason>")
  )

  /** The kinds of objects that an error can report as missing. */
  val missingKinds: Seq[ObjectKind] = Seq(
    ObjectKind.Table,
    ObjectKind.View,
    ObjectKind.Namespace,
    ObjectKind.Column,
    ObjectKind.Snapshot,
    ObjectKind.Branch,
    ObjectKind.Tag,
    ObjectKind.BranchOrTag,
    ObjectKind.SnapshotOrRef,
    ObjectKind.WapId,
    ObjectKind.Schema,
    ObjectKind.PartitionField,
    ObjectKind.PartitionSpec,
    ObjectKind.SortOrder,
    ObjectKind.Expression,
    ObjectKind.Constraint,
    ObjectKind.ViewVersion,
    ObjectKind.Warehouse,
    ObjectKind.Resource,
    ObjectKind.JdbcDriver,
    ObjectKind.Library,
    ObjectKind.Class
  )

  /** The kinds of objects that an error can report as existing. */
  val existingKinds: Seq[ObjectKind] = Seq(
    ObjectKind.Table,
    ObjectKind.TableOrView,
    ObjectKind.View,
    ObjectKind.ForeignTable,
    ObjectKind.Namespace,
    ObjectKind.PartitionField,
    ObjectKind.Expression,
    ObjectKind.Constraint
  )

  /** The features that an error can report as unsupported. */
  val features: Seq[Feature] = Seq(
    Feature.TableOperation(Table, "<operation>"),
    Feature.PartitionPurge,
    Feature.ColumnType("<column>", "<type>"),
    Feature.Other
  )

  val samples: Seq[IcebergError] = missingKinds.map(NotFound(_, "<name>", "<advice>")) ++
    existingKinds.map(AlreadyExists(_, "<name>", "<advice>")) ++
    features.map(Unsupported("<feature>", "<alternative>", _)) ++ others

  /** The rows in the order of the samples. Errors with the same condition share a row. */
  def rows: Seq[Row] = {
    val all = samples.map { error =>
      val condition = ErrorCondition.of(error)
      Row(condition.name, condition.sqlState, messageOf(error, condition), action(error))
    }
    val jobFailed = ErrorCondition.JobFailed
    all.groupBy(_.condition).values.map(_.head).toSeq.sortBy(row => all.indexWhere(_.condition == row.condition)) :+
      Row(
        jobFailed.name,
        jobFailed.sqlState,
        "<message of Spark>",
        "A Spark job failed, and no cause of the error has a condition. Look at the causes and at the logs of executors"
      )
  }

  private def messageOf(error: IcebergError, condition: ErrorCondition): String =
    SparkErrors.of(Table, error).getMessage.stripPrefix(s"[${condition.name}] ").stripPrefix(s"$Table: ")
      .replace("version 7", "version <version>").replace("version 8", "version <newest version>")

  /** The match is exhaustive, so that a new error needs an action. */
  private def action(error: IcebergError): String = error match {
    case NotFound(kind, _, _) => actionIfMissing(kind)
    case AlreadyExists(kind, _, _) => actionIfExisting(kind)
    case _: InvalidArgument => "Set a value as the message says"
    case _: CommitConflict =>
      "Run the statement again. If it happens often, increase `commit.retry.num-retries`, or reduce concurrent writes"
    case _: ConcurrentChange =>
      "Run the statement again, if it should apply to the changed rows. The option `statement-retries` does this"
    case _: CommitStateUnknown =>
      "Look for the metadata file in the metadata log of the table, before you run the statement again"
    case _: ValidationFailed => "Change the state of the table, or the statement, as the message says"
    case _: AlreadyCommitted =>
      "Nothing, if the write is a repetition. Otherwise, use a higher version of the application"
    case _: NullInRequired => "Filter out the rows, or set a value"
    case _: CheckViolated => "Correct or filter out the rows, or drop the constraint"
    case _: GeneratedColumnMismatch => "Omit the column, so that its value is computed"
    case _: ColumnWidened => "Create the DataFrame again"
    case _: ColumnExists => "Use another name, or drop or rename the existing column first"
    case _: ViewPropertyNotFound => "Use a property of the view (`SHOW TBLPROPERTIES`), or add `IF EXISTS`"
    case Unsupported(_, _, Feature.ColumnType(_, _)) => "Cast the column to a supported type"
    case _: Unsupported => "Use the alternative in the message"
    case _: StorageFailed =>
      "Check permissions, network and free space. Run the statement again when the storage or the catalog is available"
    case _: UnreadableFile => "Restore the file, or read a snapshot without it"
    case _: InvalidMetadata => "Restore the file, or register an older metadata file of the table with `register_table`"
  }

  private def actionIfMissing(kind: ObjectKind): String = kind match {
    case ObjectKind.Table | ObjectKind.View | ObjectKind.TableOrView | ObjectKind.ForeignTable =>
      "Check the name, the catalog and the current namespace"
    case ObjectKind.Namespace => "Check the name, or create the namespace"
    case ObjectKind.Warehouse => "Create the warehouse, or change the catalog property `warehouse`"
    case ObjectKind.Column => "Use a column of the table (`DESCRIBE TABLE`)"
    case ObjectKind.Constraint => "Use a constraint that the table has (`SHOW TBLPROPERTIES`)"
    case ObjectKind.Snapshot | ObjectKind.SnapshotOrRef =>
      "Use a snapshot of the table (metadata table `snapshots`). A snapshot that has expired cannot be read"
    case ObjectKind.WapId =>
      "Use the WAP id of a staged snapshot (`wap.id` in the column `summary` of the metadata table `snapshots`)"
    case ObjectKind.Branch | ObjectKind.Tag | ObjectKind.BranchOrTag =>
      "Use a branch or tag of the table (metadata table `refs`)"
    case ObjectKind.PartitionField | ObjectKind.PartitionSpec =>
      "Use a partition field or spec of the table (`DESCRIBE EXTENDED`)"
    case ObjectKind.Expression =>
      "Use the id of a stored expression, which only tables of [version 4](v4.md) have; the procedure `expressions` " +
        "lists the ids"
    case ObjectKind.Schema | ObjectKind.SortOrder => "Use one of the ids in the table's metadata"
    case ObjectKind.ViewVersion => "Use a version of the view that its version log lists"
    case ObjectKind.Resource => "Check the name; the server does not say what is missing"
    case ObjectKind.JdbcDriver | ObjectKind.Library | ObjectKind.Class =>
      "Add the jar that the message names to the session"
  }

  private def actionIfExisting(kind: ObjectKind): String = kind match {
    case ObjectKind.Namespace => "Use `IF NOT EXISTS`, or another name"
    case ObjectKind.Table | ObjectKind.TableOrView | ObjectKind.View =>
      "Use `IF NOT EXISTS` or `OR REPLACE`, another name, or drop the existing object first"
    case _ => "Use another name, or drop the existing object first"
  }
}
