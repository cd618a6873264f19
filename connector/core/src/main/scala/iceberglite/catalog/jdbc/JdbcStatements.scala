package iceberglite.catalog.jdbc

import java.sql.{Connection, PreparedStatement, ResultSet}

/** Runs statements on one connection. Values are passed as parameters, never as a part of the statement. */
final private[catalog] class JdbcStatements(val connection: Connection) {

  def update(sql: String, parameters: String*): Int = withPrepared(sql, parameters)(_.executeUpdate())

  def query[A](sql: String, parameters: Seq[String])(row: ResultSet => A): Vector[A] =
    withPrepared(sql, parameters) { statement =>
      val results = statement.executeQuery()
      Iterator.continually(results).takeWhile(_.next()).map(row).toVector
    }

  private def withPrepared[A](sql: String, parameters: Seq[String])(run: PreparedStatement => A): A = {
    val statement = connection.prepareStatement(sql)
    try {
      parameters.zipWithIndex.foreach { case (value, i) => statement.setString(i + 1, value) }
      run(statement)
    } finally statement.close()
  }
}
