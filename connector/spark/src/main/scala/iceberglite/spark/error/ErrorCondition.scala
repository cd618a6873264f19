package iceberglite.spark.error

import java.util.Locale

import iceberglite.spec.IcebergError._
import iceberglite.spec.{IcebergError, ObjectKind, Redaction}

/**
 * The error condition of an error: Spark's own condition if there is one for the error, and otherwise a condition whose
 * name begins with `ICEBERG_LITE.`.
 *
 * @param name the name that `getErrorClass` returns
 * @param sqlState the SQL state, of 5 characters
 * @param parameters the parameters of the message of the condition
 */
final private[iceberglite] case class ErrorCondition(name: String, sqlState: String, parameters: Map[String, String]) {

  /**
   * Returns a message that begins with the name of the condition in brackets, as Spark's messages do. A server of Spark
   * Connect sends only the message of an error, so that its clients find the condition there.
   */
  def in(message: String): String = if (message.startsWith(s"[$name]")) message else s"[$name] $message"
}

private[iceberglite] object ErrorCondition {
  private val Prefix = "ICEBERG_LITE."

  /** The condition of Spark jobs that fail because of an error without a condition. */
  val JobFailed: ErrorCondition = ErrorCondition(Prefix + "JOB_FAILED", "58000", Map.empty)

  /** Returns the condition of an error. Secrets in URLs are redacted in the parameters. */
  def of(error: IcebergError): ErrorCondition = {
    val condition = conditionOf(error)
    condition.copy(parameters = condition.parameters.map { case (name, value) => name -> Redaction(value) })
  }

  private def conditionOf(error: IcebergError): ErrorCondition = error match {
    case NotFound(kind, name, _) => notFound(kind, name)
    case AlreadyExists(kind, name, _) => alreadyExists(kind, name)
    case InvalidArgument(name, value, _) =>
      ErrorCondition("INVALID_PARAMETER_VALUE", "22023", Map("parameter" -> name, "value" -> value))
    case InvalidMetadata(file, path, _, _) => own("INVALID_METADATA", "XX001", "file" -> file, "path" -> path)
    case UnreadableFile(file, role, _, _) => own("UNREADABLE_FILE", "58030", "file" -> file, "role" -> role)
    case unsupported: Unsupported => unsupportedFeature(unsupported)
    case exists: ColumnExists => columnExists(exists)
    case missing: ViewPropertyNotFound => viewPropertyNotFound(missing)
    case AlreadyCommitted(table, application, version, _) => own(
        "ALREADY_COMMITTED",
        "23505",
        "table" -> table,
        "application" -> application,
        "version" -> version.toString
      )
    case ColumnWidened(table, column, from, to) =>
      own("COLUMN_WIDENED", "42825", "table" -> table, "column" -> column, "from" -> from, "to" -> to)
    case violated: CheckViolated => checkViolated(violated)
    case mismatch: GeneratedColumnMismatch => generatedColumnMismatch(mismatch)
    case NullInRequired(column) => own("NOT_NULL_VIOLATION", "23502", "column" -> column)
    case CommitConflict(table, reason) => own("COMMIT_CONFLICT", "40001", "table" -> table, "reason" -> reason)
    case CommitStateUnknown(table, file, _, _) =>
      own("COMMIT_STATE_UNKNOWN", "40003", Seq("table" -> table) ++ file.map("metadataFile" -> _): _*)
    case ConcurrentChange(reason, _) => own("CONCURRENT_CHANGE", "40001", "reason" -> reason)
    case ValidationFailed(reason) => own("VALIDATION_FAILED", "55000", "reason" -> reason)
    case StorageFailed(operation, place, _, _) =>
      own("STORAGE_FAILED", "58030", "operation" -> operation, "place" -> place.toString)
  }

  // Spark 3.5 defines no SQL states for the conditions of an existing column, a missing property and a type. Here they
  // have the states of Spark 4.
  private def columnExists(error: ColumnExists): ErrorCondition = ErrorCondition(
    "FIELDS_ALREADY_EXISTS",
    "42710",
    Map("op" -> error.operation, "fieldNames" -> error.column, "struct" -> error.struct)
  )

  private def viewPropertyNotFound(error: ViewPropertyNotFound): ErrorCondition =
    ErrorCondition("UNSET_NONEXISTENT_PROPERTIES", "42K0J", Map("properties" -> error.key, "table" -> error.view))

  private def unsupportedFeature(error: Unsupported): ErrorCondition = error.feature match {
    case Feature.TableOperation(table, operation) => ErrorCondition(
        "UNSUPPORTED_FEATURE.TABLE_OPERATION",
        "0A000",
        Map("tableName" -> table, "operation" -> operation)
      )
    case Feature.PartitionPurge => ErrorCondition("UNSUPPORTED_FEATURE.PURGE_PARTITION", "0A000", Map.empty)
    case Feature.ColumnType(column, columnType) => ErrorCondition(
        "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
        "0A000",
        Map("format" -> "iceberg", "columnName" -> column, "columnType" -> columnType)
      )
    case Feature.Other => own("UNSUPPORTED", "0A000", "what" -> error.what)
  }

  private def checkViolated(error: CheckViolated): ErrorCondition = own(
    "CHECK_CONSTRAINT_VIOLATION",
    "23001",
    "table" -> error.table,
    "constraint" -> error.constraint,
    "expression" -> error.expression,
    "row" -> error.row
  )

  private def generatedColumnMismatch(error: GeneratedColumnMismatch): ErrorCondition = own(
    "GENERATED_COLUMN_MISMATCH",
    "428C9",
    "table" -> error.table,
    "column" -> error.column,
    "expression" -> error.expression,
    "row" -> error.row
  )

  private def own(name: String, sqlState: String, parameters: (String, String)*): ErrorCondition =
    ErrorCondition(Prefix + name, sqlState, parameters.toMap)

  private def notFound(kind: ObjectKind, name: String): ErrorCondition = kind match {
    case ObjectKind.Table | ObjectKind.TableOrView =>
      ErrorCondition("TABLE_OR_VIEW_NOT_FOUND", "42P01", Map("relationName" -> name))
    case ObjectKind.View => ErrorCondition("VIEW_NOT_FOUND", "42P01", Map("relationName" -> name))
    case ObjectKind.Namespace => ErrorCondition("SCHEMA_NOT_FOUND", "42704", Map("schemaName" -> name))
    case ObjectKind.Column =>
      ErrorCondition("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "42703", Map("objectName" -> name))
    case other => own(s"${words(other)}_NOT_FOUND", "42704", "name" -> name)
  }

  private def alreadyExists(kind: ObjectKind, name: String): ErrorCondition = kind match {
    case ObjectKind.Table | ObjectKind.TableOrView =>
      ErrorCondition("TABLE_OR_VIEW_ALREADY_EXISTS", "42P07", Map("relationName" -> name))
    case ObjectKind.View => ErrorCondition("VIEW_ALREADY_EXISTS", "42P07", Map("relationName" -> name))
    case ObjectKind.Namespace => ErrorCondition("SCHEMA_ALREADY_EXISTS", "42P06", Map("schemaName" -> name))
    case other => own(s"${words(other)}_ALREADY_EXISTS", "42710", "name" -> name)
  }

  /** Returns the name of a kind as in names of conditions, for example `BRANCH_OR_TAG`. */
  private def words(kind: ObjectKind): String = kind.noun.replaceAll("[^A-Za-z]+", "_").toUpperCase(Locale.ROOT)
}
