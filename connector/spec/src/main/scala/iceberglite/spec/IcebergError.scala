package iceberglite.spec

/**
 * Everything that can go wrong with a table, as data. A message says what was wrong and where, and what to do about it;
 * secrets in URLs are not shown.
 *
 * Parsers of files and of user input let no other exception out.
 */
sealed abstract class IcebergError(message: String, cause: Option[Throwable] = None)
    extends RuntimeException(Redaction(message), cause.orNull)

object IcebergError {

  /** A metadata file (JSON, manifest list, manifest) breaks the spec. `path` names the place in it, `$` the whole. */
  final case class InvalidMetadata(file: String, path: String, reason: String, cause: Option[Throwable] = None)
      extends IcebergError(s"Invalid metadata in $file at $path: $reason", cause)

  /** A file that the table refers to cannot be read. */
  final case class UnreadableFile(file: String, role: String, reason: String, cause: Option[Throwable] = None)
      extends IcebergError(s"Cannot read $role $file: $reason", cause)

  /** Valid by the spec, but not handled here (yet): `instead` says what to do. */
  final case class Unsupported(what: String, instead: String) extends IcebergError(s"Unsupported: $what. $instead")

  /** A thing that was named is not there. `kind` is a noun such as `table` or `column`. */
  final case class NotFound(kind: String, name: String, instead: String)
      extends IcebergError(s"${kind.capitalize} not found: $name. $instead")

  final case class AlreadyExists(kind: String, name: String, instead: String)
      extends IcebergError(s"${kind.capitalize} already exists: $name. $instead")

  /** What an application wants to write is in the table: it ran before. */
  final case class AlreadyCommitted(table: String, application: String, version: Long, last: Long)
      extends IcebergError(
        s"$table already contains version $version of the application $application, so nothing is written again: its " +
          s"last committed version is $last. Unset the table property application-version.$application to start over"
      )

  /** An argument, option or property with a value that cannot be. */
  final case class InvalidArgument(name: String, value: String, reason: String)
      extends IcebergError(s"Invalid value for $name: $value. $reason")

  /** A column has values of a wider type than the one with which a query was created. */
  final case class ColumnWidened(table: String, column: String, from: String, to: String)
      extends IcebergError(
        s"Cannot read column $column of table $table: its type was changed from $from to $to after this DataFrame was " +
          "created. Create the DataFrame again, or leave the column out"
      )

  /** Another commit came first. The only error after which the retry loop tries again. */
  final case class CommitConflict(table: String, reason: String)
      extends IcebergError(s"Commit to $table lost to a concurrent commit: $reason")

  /** Nobody knows whether the commit happened. Nothing may be cleaned up after it. */
  final case class CommitStateUnknown(table: String, metadataFile: String, reason: String, cause: Option[Throwable])
      extends IcebergError(
        s"The outcome of a commit to $table is unknown: $reason. Its files were kept. The commit happened if " +
          s"$metadataFile is the table's current metadata or is listed in its metadata log; check this before you " +
            "rerun the job",
        cause
      )

  /**
   * A commit or an update that would make the table wrong: the concurrent change or the rule that forbids it.
   *
   * @param byOthers whether it is a concurrent change: the same statement, planned anew, may succeed
   */
  final case class ValidationFailed(message: String, byOthers: Boolean = false) extends IcebergError(message)

  /** The storage refused or failed an operation. */
  final case class StorageFailed(operation: String, path: String, reason: String, cause: Option[Throwable] = None)
      extends IcebergError(s"Cannot $operation $path: $reason", cause)
}
