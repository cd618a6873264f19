package iceberglite.spec

/** The kind of the object that an error message names. @param noun the name of the kind in messages */
sealed abstract class ObjectKind(val noun: String) extends Serializable

object ObjectKind {
  case object Table extends ObjectKind("table")
  case object View extends ObjectKind("view")
  case object TableOrView extends ObjectKind("table or view")
  case object Namespace extends ObjectKind("namespace")
  case object Warehouse extends ObjectKind("warehouse")

  case object Column extends ObjectKind("column")
  case object Constraint extends ObjectKind("constraint")
  case object Schema extends ObjectKind("schema")
  case object Expression extends ObjectKind("expression")
  case object PartitionField extends ObjectKind("partition field")
  case object PartitionSpec extends ObjectKind("partition spec")
  case object SortOrder extends ObjectKind("sort order")
  case object Snapshot extends ObjectKind("snapshot")
  case object WapId extends ObjectKind("WAP id")
  case object Branch extends ObjectKind("branch")
  case object Tag extends ObjectKind("tag")
  case object BranchOrTag extends ObjectKind("branch or tag")
  case object SnapshotOrRef extends ObjectKind("snapshot, branch or tag")
  case object ViewVersion extends ObjectKind("view version")

  /** An object of a REST catalog whose kind the server does not name. */
  case object Resource extends ObjectKind("resource")
  case object JdbcDriver extends ObjectKind("JDBC driver")
  case object ForeignTable extends ObjectKind("table of another format")
  case object Library extends ObjectKind("library")
  case object Class extends ObjectKind("class")
}
