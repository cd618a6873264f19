package iceberglite.spark

import org.apache.spark.sql.SparkSession

import iceberglite.servers.Servers

/**
 * Replaces placeholders such as `${postgres.url}` in catalog settings. A server is started only if one of its
 * placeholders is replaced. Each instance creates a new database and a new bucket, so that a catalog in them is empty.
 */
final class ServerSettings {
  private lazy val database = Servers.postgres.newDatabase()
  private lazy val bucket = Servers.s3.newBucket()

  private val placeholders: Seq[(String, () => String)] = Seq(
    "postgres.url" -> (() => database.url),
    "postgres.user" -> (() => database.user),
    "postgres.password" -> (() => database.password),
    "rest.uri" -> (() => Servers.rest.uri),
    "rest.warehouse" -> (() => Servers.rest.warehouse),
    "hive.uri" -> (() => Servers.hive.uri),
    "hive.warehouse" -> (() => Servers.hive.warehouse),
    "s3.endpoint" -> (() => Servers.s3.endpoint),
    "s3.bucket" -> (() => bucket),
    "s3.access-key" -> (() => Servers.s3.accessKey),
    "s3.secret-key" -> (() => Servers.s3.secretKey)
  )

  def replaceIn(text: String): String = placeholders.foldLeft(text) { case (t, (name, value)) =>
    val placeholder = "$" + s"{$name}"
    if (t.contains(placeholder)) t.replace(placeholder, value()) else t
  }
}

object ServerSettings {

  /** Prefixes of the placeholders of servers that have a single catalog, which scenarios use one after the other. */
  private val shared = Seq("rest.", "hive.")

  def isShared(settings: Iterable[String]): Boolean = shared.exists(s => settings.exists(_.contains("$" + s"{$s")))

  /** Drops every table and namespace of a catalog except the default namespace. */
  def clear(session: SparkSession, catalog: String): Unit = {
    def rows(statement: String, column: Int): Seq[String] = session.sql(statement).collect().map(_.getString(column))
    def quoted(name: String): String = s"`$name`"
    def drop(namespace: String): Unit = {
      rows(s"SHOW NAMESPACES IN $catalog.$namespace", 0).filterNot(_ == namespace.replace("`", ""))
        .foreach(inner => drop(inner.split('.').map(quoted).mkString(".")))
      rows(s"SHOW TABLES IN $catalog.$namespace", 1)
        .foreach(table => session.sql(s"DROP TABLE $catalog.$namespace.${quoted(table)}"))
      if (namespace != quoted("default")) session.sql(s"DROP NAMESPACE $catalog.$namespace")
    }
    rows(s"SHOW NAMESPACES IN $catalog", 0).foreach(name => drop(quoted(name)))
  }
}
