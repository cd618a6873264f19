package iceberglite.catalog.jdbc

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.TableIdentifier

/** Converts the names of namespaces to their form in the database, and checks the names of new objects. */
private[catalog] object JdbcNames {

  /** Joins a namespace's levels with dots. @throws InvalidArgument if a level is empty, or contains a dot or NUL */
  def join(namespace: Vector[String]): String = {
    namespace.find(level => level.isEmpty || level.contains(".")).foreach { level =>
      throw InvalidArgument(
        "namespace",
        s"'$level'",
        "In a JDBC catalog, a level of a namespace must not be empty or contain a dot"
      )
    }
    checkCharacters("namespace", namespace.mkString("."))
  }

  def levels(namespace: String): Vector[String] =
    if (namespace.isEmpty) Vector.empty else namespace.split('.').toVector

  /** Rejects the character NUL, which databases reject or treat as the end of a text. */
  def checkCharacters(kind: String, name: String): String =
    if (name.indexOf(0.toChar) < 0) name
    else {
      val printable = name.replace(0.toChar, '?')
      throw InvalidArgument(kind, s"'$printable'", "It contains a NUL character; remove it")
    }

  /** Checks the name of a new namespace, and joins its levels. */
  def newNamespace(namespace: Vector[String]): String = checkLength("namespace", join(namespace))

  /** Checks the name of a new table or view. */
  def checkNewName(kind: RowKind, id: TableIdentifier): Unit = {
    if (id.name.isEmpty) throw InvalidArgument(s"${kind.noun} name", "''", "It must not be empty")
    checkLength(s"${kind.noun} name", checkCharacters(s"${kind.noun} name", id.name))
    newNamespace(id.namespace)
    ()
  }

  /**
   * Checks a namespace level or a table name that is used as a directory name in a default location. Names with which
   * the location could be outside the warehouse are rejected.
   */
  def checkDirectoryName(kind: String, name: String): String =
    if (name.contains("/") || name == "." || name == "..") {
      throw InvalidArgument(
        kind,
        s"'$name'",
        "The name is also a directory name. It must not contain a slash, and must not be . or .."
      )
    } else name

  private def checkLength(kind: String, name: String): String = {
    val length = name.codePointCount(0, name.length)
    if (length <= JdbcTables.MaxName) name
    else {
      val reason = s"It has $length characters; the database supports at most ${JdbcTables.MaxName}"
      throw InvalidArgument(kind, s"'${name.take(40)}...'", reason)
    }
  }
}
