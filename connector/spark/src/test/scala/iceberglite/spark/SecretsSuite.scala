package iceberglite.spark

import java.io.{PrintWriter, StringWriter}
import java.nio.file.{Files, Paths}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property
import org.apache.logging.log4j.core.layout.PatternLayout
import org.apache.logging.log4j.core.{LogEvent, LoggerContext}
import org.apache.logging.log4j.{Level, LogManager}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.{CodegenMode, CostMode, ExtendedMode, FormattedMode, SimpleMode}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.servers.Servers

/** Puts a marker into every secret of a configuration, and checks that the marker is in nothing that users can see. */
class SecretsSuite extends AnyFunSuite with SharedSession {
  private val Marker = "mark0f5ecret"

  /** Texts that users can see, each with the place where users see the text. */
  private val visibleTexts = new ConcurrentLinkedQueue[(String, String)]

  private def record(where: String, text: String): Unit = {
    visibleTexts.add(where -> text)
    ()
  }

  private val s3 = Map(
    "type" -> "hadoop",
    "s3.path-style-access" -> "true",
    "s3.access-key-id" -> "user",
    "s3.secret-access-key" -> s"$Marker-s3",
    "client.region" -> "us-east-1",
    "hadoop.fs.s3a.attempts.maximum" -> "1",
    "hadoop.fs.s3a.retry.limit" -> "1",
    "hadoop.fs.s3a.connection.establish.timeout" -> "1000"
  )

  /** Settings by catalog name. The servers of `closed_` catalogs are unreachable; the last six catalogs are invalid. */
  private lazy val catalogs: Map[String, Map[String, String]] = Map(
    "files" -> (s3 ++ Map("s3.endpoint" -> Servers.s3.endpoint, "warehouse" -> s"s3://${Servers.s3.newBucket()}/wh")),
    "rows" -> Map(
      "type" -> "jdbc",
      "uri" -> s"jdbc:sqlite:${newDirectory()}/c.db?password=$Marker-url",
      "jdbc.user" -> "user",
      "jdbc.password" -> s"$Marker-jdbc",
      "warehouse" -> newDirectory().toString,
      "hadoop.fs.s3a.secret.key" -> s"$Marker-hadoop"
    ),
    "closed_s3" -> (s3 ++ Map("s3.endpoint" -> "http://127.0.0.1:1", "warehouse" -> "s3://bucket/wh")),
    "closed_pg" -> Map(
      "type" -> "jdbc",
      "uri" -> s"jdbc:postgresql://127.0.0.1:1/db?user=u&password=$Marker-pg",
      "warehouse" -> "/wh"
    ),
    "closed_rest" -> Map(
      "type" -> "rest",
      "uri" -> s"http://user:$Marker-rest@127.0.0.1:1/",
      "credential" -> s"id:$Marker-credential",
      "token" -> s"$Marker-token",
      "header.X-Api-Key" -> s"$Marker-header"
    ),
    "closed_hive" -> Map(
      "type" -> "hive",
      "uri" -> "thrift://127.0.0.1:1",
      "hadoop.javax.jdo.option.ConnectionPassword" -> s"$Marker-hive",
      "warehouse" -> "/wh"
    ),
    "wrong_url" -> Map(
      "type" -> "jdbc",
      "uri" -> s"postgresql://user:$Marker-wrong@host/db?password=$Marker-wrong",
      "warehouse" -> "/wh"
    ),
    "wrong_driver" -> Map(
      "type" -> "jdbc",
      "uri" -> s"jdbc:nosuch://u:$Marker-d@h/db;password=$Marker-d",
      "warehouse" -> "/wh"
    ),
    "half_pair" -> Map("type" -> "hadoop", "warehouse" -> "s3://b/w", "s3.secret-access-key" -> s"$Marker-half"),
    "wrong_key" -> Map("type" -> "hadoop", "warehouse" -> "/wh", "warehous" -> s"s3://u:$Marker-key@b/"),
    "wrong_type" -> Map("type" -> "glue", "token" -> s"$Marker-type", "credential" -> s"$Marker-type"),
    "wrong_io" -> Map(
      "type" -> "hadoop",
      "warehouse" -> "/wh",
      "io-impl" -> "com.example.IO",
      "s3.session-token" -> Marker
    )
  )

  /** The redaction settings that the documentation recommends. */
  private lazy val patterns: Map[String, String] = {
    val lines =
      Files.readAllLines(Paths.get("docs/security.md")).asScala.filter(_.matches("spark\\.\\S*redaction\\.\\S+ .*"))
    lines.map(_.split(" +", 2)).map { case Array(key, pattern) => key -> pattern }.toMap
  }

  private def sessionWithCatalogs(): SparkSession = {
    val session = spark.newSession()
    // This is Spark's default. The JVMs of the tests are configured for shorter plan descriptions.
    session.conf.set("spark.sql.ui.explainMode", "formatted")
    session.conf.set("spark.sql.redaction.options.regex", patterns("spark.sql.redaction.options.regex"))
    for ((catalog, settings) <- catalogs) {
      session.conf.set(s"spark.sql.catalog.$catalog", classOf[SparkCatalog].getName)
      settings.foreach { case (key, value) => session.conf.set(s"spark.sql.catalog.$catalog.$key", value) }
    }
    session
  }

  private def traceOf(e: Throwable): String = {
    val text = new StringWriter
    e.printStackTrace(new PrintWriter(text))
    s"$text\n$e"
  }

  /** Runs a statement and records its rows, its plans and its failure. */
  private def run(session: SparkSession, statement: String): Unit =
    try {
      val frame = session.sql(statement)
      record(statement, frame.collect().mkString("\n"))
      Seq(SimpleMode, ExtendedMode, FormattedMode, CostMode, CodegenMode).foreach { mode =>
        record(s"plan of $statement", frame.queryExecution.explainString(mode))
      }
    } catch { case NonFatal(e) => record(s"error of $statement", traceOf(e)) }

  private def successfulStatements(catalog: String): Seq[String] = Seq(
    s"CREATE NAMESPACE IF NOT EXISTS $catalog.db",
    s"CREATE TABLE $catalog.db.t (id BIGINT, c STRING) PARTITIONED BY (c)",
    s"INSERT INTO $catalog.db.t VALUES (1, 'a'), (2, 'b')",
    s"SELECT * FROM $catalog.db.t WHERE id > 1",
    s"DELETE FROM $catalog.db.t WHERE c = 'a'",
    s"CREATE TABLE $catalog.db.u AS SELECT * FROM $catalog.db.t",
    s"CREATE TABLE $catalog.db.v AS SELECT raise_error('no') AS x FROM $catalog.db.t",
    s"SHOW TBLPROPERTIES $catalog.db.t",
    s"DESCRIBE EXTENDED $catalog.db.t",
    s"SHOW CREATE TABLE $catalog.db.t",
    s"DESCRIBE NAMESPACE EXTENDED $catalog.db",
    s"SELECT * FROM $catalog.db.t.snapshots",
    s"SELECT * FROM $catalog.db.none",
    s"CREATE TABLE $catalog.db.t (id BIGINT)",
    s"ALTER TABLE $catalog.db.t SET TBLPROPERTIES ('write.target-file-size-bytes' = 'x')",
    s"EXPLAIN EXTENDED SELECT * FROM $catalog.db.t",
    s"DROP TABLE $catalog.db.u PURGE"
  )

  private def failingStatements(catalog: String): Seq[String] =
    Seq(s"SHOW NAMESPACES IN $catalog", s"SELECT * FROM $catalog.db.t", s"CREATE TABLE $catalog.db.t (id BIGINT)")

  test("no secret is in rows, plans, errors with their causes, logs or the data of the Spark UI", Slow) {
    val log = new LogRecorder
    log.attach()
    try {
      val session = sessionWithCatalogs()
      val lastExecution = executions.map(_.executionId).foldLeft(-1L)(_ max _)
      inSession(session) { _ =>
        catalogs.keys.toVector.sorted.foreach { catalog =>
          val isReachable = Set("files", "rows")(catalog)
          val statements = if (isReachable) successfulStatements(catalog) else failingStatements(catalog)
          statements.foreach(run(session, _))
        }
      }
      recordSparkUI(lastExecution)
    } finally log.detach()
    val statements = visibleTexts.asScala.map(_._1).toSet
    assert(Seq("error of SELECT * FROM closed_pg.db.t", "plan of SELECT * FROM files.db.t.snapshots", "ui", "log")
      .forall(where => statements.exists(_.contains(where))))
    val leaks = visibleTexts.asScala.filter(_._2.contains(Marker))
    assert(leaks.isEmpty, leaks.map { case (where, text) => s"$where:\n${contextOfMarker(text)}" }.mkString("\n\n"))
  }

  test("a location with a password is rejected and never logged") {
    val log = new LogRecorder
    log.attach()
    val error =
      try inSession(sessionWithCatalogs()) { session =>
          intercept[Exception](session.sql(s"CREATE TABLE rows.w (id BIGINT) LOCATION 's3://user:$Marker@nowhere/w'"))
        }
      finally log.detach()
    assert(traceOf(error).contains("s3://user:***@nowhere/w") && traceOf(error).contains("must not contain a password"))
    assert(!traceOf(error).contains(Marker))
    assert(!visibleTexts.asScala.exists(s => s._1.startsWith("log") && s._2.contains(Marker)))
  }

  test("the redaction pattern in the documentation hides all secrets on Spark's environment page") {
    val pattern = patterns("spark.redaction.regex").r
    // Spark redacts a value if the key or the value matches the pattern.
    val notRedacted = catalogs.values.flatten.filter { case (key, value) =>
      pattern.findFirstIn(key).orElse(pattern.findFirstIn(value)).isEmpty
    }
    assert(!notRedacted.exists(_._2.contains(Marker)), notRedacted.filter(_._2.contains(Marker)))
    assert(notRedacted.exists(_._1 == "warehouse") && notRedacted.exists(_._1 == "s3.access-key-id") == false)
  }

  private def contextOfMarker(text: String): String = {
    val index = text.indexOf(Marker)
    text.substring(math.max(0, index - 300), math.min(text.length, index + 100))
  }

  private def executions = spark.sharedState.statusStore.executionsList()

  /**
   * Records what the Spark UI shows about executions.
   *
   * @param lastExecution the number of the last execution before the statements of the test, which is not recorded
   */
  private def recordSparkUI(lastExecution: Long): Unit = {
    val store = spark.sharedState.statusStore
    executions.filter(_.executionId > lastExecution).foreach { execution =>
      record("ui", Seq(execution.description, execution.details, execution.physicalPlanDescription).mkString("\n"))
      record("ui", execution.modifiedConfigs.mkString("\n"))
      record("ui", execution.errorMessage.toString)
      store.planGraph(execution.executionId).allNodes.foreach(node => record("ui", node.toString))
    }
  }

  /** Records the messages of all loggers. */
  final private class LogRecorder
      extends AbstractAppender("secrets", null, PatternLayout.createDefaultLayout(), true, Property.EMPTY_ARRAY) {
    private val context = LogManager.getContext(false).asInstanceOf[LoggerContext]
    private val root = context.getConfiguration.getRootLogger
    private val original = (root.getLevel, root.getAppenders.values.asScala.toVector)

    override def append(event: LogEvent): Unit = {
      record(s"log of ${event.getLoggerName}", event.getMessage.getFormattedMessage)
      Option(event.getThrown).foreach(e => record(s"log of ${event.getLoggerName}", traceOf(e)))
    }

    /** Replaces the existing appenders, so that the messages are recorded but not printed. */
    def attach(): Unit = {
      start()
      original._2.foreach(appender => root.removeAppender(appender.getName))
      root.setLevel(Level.INFO)
      root.addAppender(this, Level.INFO, null)
      context.updateLoggers()
    }

    def detach(): Unit = {
      root.removeAppender(getName)
      root.setLevel(original._1)
      original._2.foreach(root.addAppender(_, null, null))
      context.updateLoggers()
      stop()
    }
  }
}
