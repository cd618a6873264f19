package iceberglite.spark.error

import java.nio.file.{Files, Path}
import java.sql.SQLException
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.scalatest.Suite

import iceberglite.catalog.FaultyDriver
import iceberglite.spark.{SharedSession, SparkCatalog}

/** Makes a call to the storage or to the catalog's database fail. */
private[error] trait Faults {

  /**
   * Counts calls from now on, and makes a call fail as `fault` describes.
   *
   * @param callNumber the number of the first call that fails, counted from 1
   */
  def arm(fault: Fault, callNumber: Int): Unit

  /**
   * Stops counting and failing calls.
   *
   * @return the number of counted calls since `arm`, possibly without the calls after a failure
   */
  def disarm(): Int
}

/** Makes statements on the catalog's database fail. */
private[error] object DatabaseFaults extends Faults {
  private val MaxCalls = 200
  private val calls = new AtomicInteger

  /** The number of scripted failures. */
  private var failures = 0

  override def arm(fault: Fault, callNumber: Int): Unit = {
    calls.set(0)
    val counted = FaultyDriver.Late { () =>
      calls.incrementAndGet()
      ()
    }
    // The connector repeats a statement if the connection is lost, but not if the database reports an error.
    val break =
      if (fault == Fault.AnswerLost) FaultyDriver.After
      else FaultyDriver.DatabaseError(new SQLException("by the test: not authorized", "42501", SqliteAuth))
    failures = if (callNumber > MaxCalls) 0 else if (fault == Fault.Outage) MaxCalls else 1
    FaultyDriver.breaks =
      Vector.fill(math.min(callNumber - 1, MaxCalls))("" -> counted) ++ Vector.fill(failures)("" -> break)
  }

  override def disarm(): Int = {
    val reached = FaultyDriver.breaks.size < failures || failures == 0 && FaultyDriver.breaks.isEmpty
    FaultyDriver.reset()
    calls.get + (if (reached) 1 else 0)
  }

  private val SqliteAuth = 23
}

/** The result of running a statement. @param calls the number of counted calls to the storage or the database */
final private[error] case class Attempt(session: SparkSession, error: Option[Throwable], calls: Int)

/**
 * Two catalogs, whose tables are in their initial state at the beginning of each attempt. The storage of the catalog
 * `faulty` and the database of the catalog `faultydb` fail on request.
 */
private[error] trait ErrorBoundaryFixture extends SharedSession { self: Suite =>
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private lazy val root = newDirectory()
  private lazy val warehouse = Files.createDirectories(root.resolve("wh"))
  private lazy val backup = root.resolve("backup")
  private lazy val database = root.resolve("catalog.db")

  protected lazy val tableFacts: TableFacts = {
    val session = newSession(database, isCached = true)
    ErrorBoundaryStatements.create.foreach(session.sql(_).collect())
    val snapshots = session.sql(
      "SELECT snapshot_id, CAST(committed_at + INTERVAL 1 MILLISECOND AS STRING) FROM faulty.db.t.snapshots ORDER BY 2"
    ).collect()
    val file = session.sql("SELECT max(file) FROM faultydb.db.t.metadata_log_entries").head().getString(0)
    copy(warehouse, backup)
    val Seq(first, second, onBranch) = snapshots.take(3).map(_.getLong(0)).toSeq
    TableFacts(first, second, onBranch, snapshots.head.getString(1), s"ofs://wh$warehouse/db/t", file)
  }

  /** The metadata files and namespaces at the beginning of each attempt. */
  private lazy val initialState: Set[Path] = state(backup)

  /** Returns a session with its own catalogs. @param isCached whether the catalogs cache tables */
  private def newSession(database: Path, isCached: Boolean): SparkSession = {
    val session = spark.newSession()
    val common = Seq(
      "cache-enabled" -> isCached.toString,
      "io.manifest.cache-enabled" -> "false",
      "table-default.commit.retry.num-retries" -> "0",
      "table-default.commit.status-check.num-retries" -> "0"
    )
    def add(name: String, settings: (String, String)*): Unit =
      SharedSession.catalogConf(name, classOf[SparkCatalog].getName, common ++ settings: _*)
        .foreach { case (key, value) => session.conf.set(key, value) }
    val fileSystem = "fs.ofs.impl" -> classOf[FaultyFileSystem].getName
    add("faulty", "type" -> "hadoop", "warehouse" -> s"ofs://wh$warehouse", s"hadoop.${fileSystem._1}" -> fileSystem._2)
    val url = s"${FaultyDriver.Prefix}sqlite:$database"
    add("faultydb", "type" -> "jdbc", "uri" -> url, "warehouse" -> root.resolve("db").toUri.toString)
    session.conf.set(fileSystem._1, fileSystem._2)
    session.conf.set("spark.sql.shuffle.partitions", "1")
    session
  }

  /** Runs a statement on the tables in their initial state, while a call fails. */
  protected def attempt(c: Case, faults: Faults, fault: Fault, callNumber: Int, isCached: Boolean): Attempt = {
    if (c.changes) restore()
    spark.sharedState.cacheManager.clearCache()
    val databaseCopy = Files.copy(database, root.resolve(s"catalog_${SharedSession.counter.incrementAndGet()}.db"))
    val session = newSession(databaseCopy, isCached)
    faults.arm(fault, callNumber)
    val error = inSession(session)(_ => Try(c.run(session)).failed.toOption)
    Attempt(session, error, faults.disarm())
  }

  /** Whether the tables and namespaces on the storage are in their initial state. */
  protected def isUnchanged: Boolean = initialState == state(warehouse)

  private def restore(): Unit = {
    // The directory is moved instead of deleted, because tasks that Spark has killed may still write files.
    Files.move(warehouse, root.resolve(s"old_${SharedSession.counter.incrementAndGet()}"))
    copy(backup, warehouse)
  }

  private def copy(from: Path, to: Path): Unit = below(from).foreach { path =>
    val target = to.resolve(from.relativize(path))
    if (!Files.isDirectory(target)) Files.copy(path, target)
  }

  /** Returns the metadata files and the namespaces in the warehouse. */
  private def state(root: Path): Set[Path] = below(root).map(root.relativize)
    .filter(path => path.toString.endsWith(".metadata.json") || path.getNameCount == 1).toSet

  protected def below(directory: Path): Vector[Path] = {
    val paths = Files.walk(directory)
    try paths.iterator.asScala.toVector
    finally paths.close()
  }
}
