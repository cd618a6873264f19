package iceberglite.spec

/**
 * The base class of the errors of tables and catalogs. A message states what is wrong and where, and usually what to
 * do. Secrets in URLs are hidden.
 *
 * Parsers of files and of user input throw only exceptions of this class.
 */
sealed abstract class IcebergError(message: String, cause: Option[Throwable] = None)
    extends RuntimeException(Redaction(message), cause.orNull)

object IcebergError {

  /**
   * A metadata file (JSON, manifest list, manifest) violates the specification. `path` is the position in the file; `$`
   * means the whole file.
   */
  final case class InvalidMetadata(file: String, path: String, reason: String, cause: Option[Throwable] = None)
      extends IcebergError(s"Invalid metadata in $file at $path: $reason", cause)

  /** A file that the table refers to cannot be read. */
  final case class UnreadableFile(file: String, role: String, reason: String, cause: Option[Throwable] = None)
      extends IcebergError(s"Cannot read $role $file: $reason", cause)

  /**
   * An operation or a file conforms to the specification, but this release does not support it.
   *
   * @param advice an alternative
   * @param feature the feature, if programs can recognize it
   */
  final case class Unsupported(what: String, advice: String, feature: Feature = Feature.Other)
      extends IcebergError(s"Unsupported: $what. $advice")

  object Unsupported {

    /**
     * Returns the error for an operation that a table or view does not support.
     *
     * @param operation the operation as a part of a sentence, such as `DROP PARTITION of`
     */
    def operation(table: String, operation: String, advice: String): Unsupported =
      Unsupported(s"$operation $table", advice, Feature.TableOperation(table, operation))
  }

  /** A feature that engines have, but that the tables and views of this connector do not support. */
  sealed abstract class Feature

  object Feature {

    /** An operation on a table or view. */
    final case class TableOperation(table: String, operation: String) extends Feature

    /** The deletion of the files of a partition together with the partition. */
    case object PartitionPurge extends Feature

    /**
     * The type of a column.
     *
     * @param column the full name of the column
     * @param columnType the type as the engine writes it
     */
    final case class ColumnType(column: String, columnType: String) extends Feature

    /** A feature that the message describes. */
    case object Other extends Feature
  }

  /** A named object does not exist. */
  final case class NotFound(kind: ObjectKind, name: String, advice: String)
      extends IcebergError(s"${kind.noun.capitalize} not found: $name. $advice")

  final case class AlreadyExists(kind: ObjectKind, name: String, advice: String)
      extends IcebergError(s"${kind.noun.capitalize} already exists: $name. $advice")

  /**
   * A new or renamed column has the name of another column of the same struct.
   *
   * @param operation what the change does with the column: `add` or `rename`
   * @param column the full name of the column
   * @param struct the columns of the table, as the type of a struct
   */
  final case class ColumnExists(operation: String, column: String, struct: String)
      extends IcebergError(
        s"Column already exists: $column. Choose another name, or drop or rename the existing column first"
      )

  /** A view has no property with the given key. */
  final case class ViewPropertyNotFound(view: String, key: String)
      extends IcebergError(
        s"View property not found: $key. View $view has no such property. Use UNSET TBLPROPERTIES IF EXISTS"
      )

  /**
   * The application has already committed a write with the given version or a later version (table property
   * `application-version.<application>`).
   */
  final case class AlreadyCommitted(table: String, application: String, version: Long, last: Long)
      extends IcebergError(
        s"Cannot write version $version of application $application to $table: the table already contains version " +
          s"$last. Nothing was written. To start over, unset the table property application-version.$application"
      )

  /** An argument, option or property has an invalid value. */
  final case class InvalidArgument(name: String, value: String, reason: String)
      extends IcebergError(s"Invalid value for $name: $value. $reason")

  /**
   * The type of a column was promoted after a DataFrame was created. Therefore the values of the column may not fit the
   * type in the DataFrame's schema.
   */
  final case class ColumnWidened(table: String, column: String, from: String, to: String)
      extends IcebergError(
        s"Cannot read column $column of table $table: its type was changed from $from to $to after this DataFrame " +
          "was created. Create the DataFrame again, or remove the column"
      )

  /** A concurrent commit succeeded first, or the catalog was busy. A commit is retried only after this error. */
  final case class CommitConflict(table: String, reason: String)
      extends IcebergError(
        s"Commit to $table conflicts with a concurrent commit: ${reason.stripSuffix(".")}. Run the statement again"
      )

  /**
   * The outcome of a commit is unknown. The files of the commit must not be deleted.
   *
   * @param metadataFile the metadata file that the commit wrote; absent if its name is unknown
   */
  final case class CommitStateUnknown(
      table: String,
      metadataFile: Option[String],
      reason: String,
      cause: Option[Throwable]
  ) extends IcebergError(
        s"The outcome of a commit to $table is unknown: $reason. Its files were kept. The commit happened if " +
          s"${metadataFile.getOrElse("the metadata file that it wrote")} is the table's current metadata or is " +
          "listed in its metadata log; check this before you rerun the job",
        cause
      )

  /**
   * A row does not satisfy a CHECK constraint of the table.
   *
   * @param expression the condition of the constraint in SQL
   * @param row the values of the columns that the condition uses, as text
   */
  final case class CheckViolated(table: String, constraint: String, expression: String, row: String)
      extends IcebergError(
        s"A row of $table does not satisfy the CHECK constraint $constraint ($expression). The row has $row. Correct " +
          "or filter out such rows"
      )

  /**
   * A row has a value in a generated column that differs from the value of the column's expression.
   *
   * @param expression the expression of the column in SQL
   * @param row the values of the generated column and of the columns that the expression uses, as text
   */
  final case class GeneratedColumnMismatch(table: String, column: String, expression: String, row: String)
      extends IcebergError(
        s"A row of $table has a value in the generated column $column that differs from its expression " +
          s"($expression). The row has " +
          "" + row + ". Omit the column or write null, so that the SQL extensions compute the value"
      )

  /**
   * A row has a null in a column, or in a part of a column, that must not be null.
   *
   * @param column the full name of the column
   */
  final case class NullInRequired(column: String)
      extends IcebergError(
        s"Column $column is NOT NULL in the table or in the query's schema, but one of the rows to be written has a " +
          "null there. Filter out such rows, or set a value"
      )

  /** A commit or an update would make the table invalid; the message names the rule that forbids it. */
  final case class ValidationFailed(message: String) extends IcebergError(message)

  /**
   * A commit is not valid, because another commit changed the table concurrently. The message names the concurrent
   * change. The same statement may succeed if it is planned again.
   *
   * @param scope what the other commit changed
   */
  final case class ConcurrentChange(message: String, scope: ChangeScope = ChangeScope.Rows)
      extends IcebergError(message)

  /** The part of a table that a conflicting commit changed. */
  sealed abstract class ChangeScope

  object ChangeScope {

    /** A commit added, deleted or changed rows. */
    case object Rows extends ChangeScope

    /**
     * Only commits with the operation `replace` (spec: "Snapshots"), such as compactions, caused the conflict. They
     * moved rows to other files, but did not add, delete or change rows.
     */
    case object FilesOnly extends ChangeScope

    /**
     * The commit deletes rows that a search has found by their keys, and the result of the search may no longer hold.
     * A commit that deletes these rows by key does not depend on the search.
     */
    case object SearchedRows extends ChangeScope
  }

  /**
   * The storage, a catalog or another server rejected an operation, or an operation failed there.
   *
   * @param operation the operation, with the preposition that the place needs, such as `write` or `get a token from`
   */
  final case class StorageFailed(operation: String, place: Place, reason: String, cause: Option[Throwable] = None)
      extends IcebergError(s"Cannot $operation $place: $reason", cause)

  object StorageFailed {

    /** Returns the error for an operation on a file or a directory. */
    def at(operation: String, path: String, reason: String, cause: Option[Throwable] = None): StorageFailed =
      StorageFailed(operation, Place.Path(path), reason, cause)
  }
}
