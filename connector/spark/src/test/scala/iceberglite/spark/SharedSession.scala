package iceberglite.spark

import java.io.IOException
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.{FileVisitResult, Files, Path, SimpleFileVisitor}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.scalatest.{BeforeAndAfterAll, Suite}

import iceberglite.Sampling
import iceberglite.storage.LocalDisk

/**
 * A suite that uses the Spark session that all suites of the JVM share. The session has pairs of catalogs on the same
 * storage. In each pair, one catalog is from iceberg-lite and one from Apache Iceberg (the peer), and each reads
 * the tables of the other:
 *
 *   - `lite` and `ice`: file-system tables in [[SharedSession.warehouse]],
 *   - `litejdbc` and `icejdbc`: tables of one SQLite file.
 *
 * Every suite has its own namespace in each catalog, and drops its tables at the end.
 */
trait SharedSession extends BeforeAndAfterAll { self: Suite =>

  /** The shared session. [[withConf]] changes its configuration while a body runs. */
  lazy val spark: SparkSession = SharedSession.spark

  /** The suite's namespace in every catalog, for table names such as `s"lite.$ns.t"`. */
  val ns: String = s"${getClass.getSimpleName.toLowerCase}_${SharedSession.counter.incrementAndGet()}"

  /** Whether a run of the slow tier contains only a quarter of the slow tests of this suite. */
  protected def isSampled: Boolean = true

  abstract override def tags: Map[String, Set[String]] =
    if (isSampled) Sampling.quarterOfSlow(suiteName, super.tags) else super.tags

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    // The namespace is also visible in the catalog of Apache Iceberg in each pair.
    Seq("lite", "litejdbc").foreach(c => sql(s"CREATE NAMESPACE IF NOT EXISTS $c.$ns"))
  }

  override protected def afterAll(): Unit =
    try Seq("lite", "litejdbc").foreach(dropAll)
    finally super.afterAll()

  protected def sql(statement: String): DataFrame = spark.sql(statement)

  /** Returns the rows of the query, in order. */
  protected def rows(statement: String): Seq[Row] = sql(statement).collect().toSeq

  /** Returns the rows of the query as sorted text, to compare two catalogs or two connectors. */
  protected def sorted(statement: String): Seq[String] = rows(statement).map(_.toString).sorted

  /** Returns a table name that no other test uses, in the suite's namespace of the given catalog. */
  protected def newTable(prefix: String = "t", catalog: String = "lite"): String =
    s"$catalog.$ns.${prefix}_${SharedSession.counter.incrementAndGet()}"

  /** Returns the name of the same table in Apache Iceberg's catalog (the peer) on the same storage. */
  protected def inApacheIceberg(table: String): String = "ice" + table.stripPrefix("lite")

  /** Sets configuration, runs the body, and restores the previous values. */
  protected def withConf[A](pairs: (String, String)*)(body: => A): A = {
    val previous = pairs.map { case (key, _) => key -> spark.conf.getOption(key) }
    pairs.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally previous.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }

  /** Runs the body with another active session, which Spark's data source API uses. */
  protected def inSession[A](session: SparkSession)(body: SparkSession => A): A = {
    val previous = SparkSession.getActiveSession
    SparkSession.setActiveSession(session)
    try body(session)
    finally previous.fold(SparkSession.clearActiveSession())(SparkSession.setActiveSession)
  }

  /** Creates an empty directory that is deleted at the end of the JVM. */
  protected def newDirectory(prefix: String = "dir"): Path = Files.createTempDirectory(SharedSession.root, prefix)

  /**
   * Deletes what the dropped tables left in the suite's namespace in the warehouse of `lite`, such as unreferenced
   * files. DROP TABLE does not delete such files, and a namespace with files cannot be dropped.
   */
  private def removeOrphans(): Unit = {
    val directory = SharedSession.warehouse.resolve(ns)
    if (Files.isDirectory(directory)) {
      val children = Files.list(directory)
      try children.iterator.asScala.toVector.foreach(SharedSession.deleteRecursively)
      finally children.close()
    }
  }

  private def dropAll(catalog: String): Unit = {
    rows(s"SHOW TABLES IN $catalog.$ns").foreach(r => sql(s"DROP TABLE $catalog.$ns.`${r.getString(1)}` PURGE"))
    removeOrphans()
    sql(s"DROP NAMESPACE IF EXISTS $catalog.$ns")
  }
}

object SharedSession {
  LocalDisk.install()

  val counter = new AtomicInteger

  /** The directory of all files that the tests of this JVM write. It is deleted at the end of the JVM. */
  val root: Path = {
    val directory = Files.createTempDirectory("iceberg-lite-test")
    sys.addShutdownHook(deleteRecursively(directory))
    directory
  }

  /** Warehouse of `lite` and `ice`. */
  val warehouse: Path = Files.createDirectories(root.resolve("warehouse"))

  /** Warehouse of `litejdbc` and `icejdbc`. */
  val jdbcWarehouse: Path = Files.createDirectories(root.resolve("jdbc-warehouse"))
  val jdbcUri: String = s"jdbc:sqlite:${root.resolve("catalog.db")}"

  /** Returns the settings of the catalog: `"type" -> "hadoop"` becomes `spark.sql.catalog.lite.type`. */
  def catalogConf(name: String, className: String, settings: (String, String)*): Map[String, String] =
    settings.map { case (key, value) => s"spark.sql.catalog.$name.$key" -> value }.toMap +
      (s"spark.sql.catalog.$name" -> className)

  /** Returns a new session with a JDBC catalog `cat` of the given class, which has the namespace `db`. */
  def sessionWithCatalog(base: SparkSession, catalogClass: String, directory: Path): SparkSession = {
    val session = base.newSession()
    catalogConf(
      ScenarioRunner.CatalogName,
      catalogClass,
      "type" -> "jdbc",
      "uri" -> s"jdbc:sqlite:$directory/catalog.db",
      "warehouse" -> directory.toUri.toString,
      "jdbc.schema-version" -> "V1"
    ).foreach { case (key, value) => session.conf.set(key, value) }
    session.sql(s"CREATE NAMESPACE ${ScenarioRunner.CatalogName}.db")
    session
  }

  val PeerCatalog = "org.apache.iceberg.spark.SparkCatalog"

  private val catalogs: Map[String, String] = {
    val liteClass = classOf[SparkCatalog].getName
    val files = Seq("type" -> "hadoop", "warehouse" -> warehouse.toUri.toString)
    val database = Seq("type" -> "jdbc", "uri" -> jdbcUri, "warehouse" -> jdbcWarehouse.toUri.toString)
    // The catalogs of Apache Iceberg do not cache tables. With a cache, they would not see the commits of iceberg-lite
    // to a table that is accessed again and again, because cache entries expire only after a time without access. The
    // two JDBC catalogs have the same name in the database, because the database stores tables by catalog name.
    val uncached = Seq("cache-enabled" -> "false")
    catalogConf("lite", liteClass, files: _*) ++ catalogConf("ice", PeerCatalog, files ++ uncached: _*) ++
      catalogConf("litejdbc", liteClass, database :+ ("catalog-name" -> "icejdbc"): _*) ++
      catalogConf("icejdbc", PeerCatalog, database ++ uncached: _*)
  }

  lazy val spark: SparkSession = session(
    // The parser of the last extension gets each statement first, and passes on statements that it does not know.
    _.withExtensions(new IcebergSparkSessionExtensions).withExtensions(new SparkSessionExtensions)
  )

  /** Another session on the same storage, without extensions. */
  lazy val withoutExtensions: SparkSession = newSession(identity)

  /**
   * Another session with only the extensions of iceberg-lite. In a session with the extensions of Apache Iceberg 1.12,
   * the rule `RewriteOperationForRowLineage` fails for every UPDATE and MERGE on tables of another source.
   */
  lazy val liteExtensions: SparkSession = newSession(_.withExtensions(new SparkSessionExtensions))

  /** Another session with only the extensions of Apache Iceberg. */
  lazy val peerExtensions: SparkSession = newSession(_.withExtensions(new IcebergSparkSessionExtensions))

  private def newSession(configure: SparkSession.Builder => SparkSession.Builder): SparkSession = {
    val shared = spark
    SparkSession.clearDefaultSession()
    SparkSession.clearActiveSession()
    try session(configure)
    finally {
      SparkSession.setDefaultSession(shared)
      SparkSession.setActiveSession(shared)
    }
  }

  private def session(configure: SparkSession.Builder => SparkSession.Builder): SparkSession = {
    val settings = catalogs ++ Map(
      "spark.ui.enabled" -> "false",
      "spark.sql.shuffle.partitions" -> "2",
      "spark.default.parallelism" -> "2",
      "spark.sql.session.timeZone" -> "UTC",
      "spark.sql.warehouse.dir" -> root.resolve("spark-warehouse").toUri.toString,
      "spark.sql.catalogImplementation" -> "in-memory"
    )
    val builder = SparkSession.builder().master("local[2]").appName("iceberg-lite tests")
    val session = settings.foldLeft(configure(builder)) { case (b, (key, value)) => b.config(key, value) }.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session
  }

  private def deleteRecursively(directory: Path): Unit =
    Files.walkFileTree(
      directory,
      new SimpleFileVisitor[Path] {
        override def visitFile(file: Path, attributes: BasicFileAttributes): FileVisitResult = {
          Files.delete(file)
          FileVisitResult.CONTINUE
        }
        override def postVisitDirectory(directory: Path, error: IOException): FileVisitResult = {
          Files.delete(directory)
          FileVisitResult.CONTINUE
        }
      }
    )
}
