package iceberglite.spark.error

import scala.util.{Random, Try}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTableType
import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.catalog.FaultyDriver
import iceberglite.spark.{SharedSession, SparkCatalog, SparkSessionCatalog}

/**
 * Makes calls to the storage and to the catalog's database fail during `snapshot` and `migrate`, or stops these
 * procedures at a storage call. Afterwards, the source must have its rows, the new table must be absent or complete,
 * and a second call must complete the work.
 */
class ImportFaultSuite extends AnyFunSuite with SharedSession {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private val callsPerFault = if (Sampling.isFast) 1 else if (Sampling.isOff) Int.MaxValue else 2
  private val random = new Random(Sampling.seed)
  private lazy val root = newDirectory()

  /** The way in which statements are stopped; absent if they are not stopped. */
  private var stop = Option.empty[Stop]

  /** A session whose session catalog and whose catalog `target` use the database and the storage that can fail. */
  private lazy val session: SparkSession = {
    val created = spark.newSession()
    val fileSystem = "fs.ofs.impl" -> classOf[FaultyFileSystem].getName
    def add(name: String, className: String): Unit = SharedSession.catalogConf(
      name,
      className,
      "type" -> "jdbc",
      "uri" -> s"${FaultyDriver.Prefix}sqlite:$root/$name.db",
      "warehouse" -> s"ofs://wh$root/$name",
      s"hadoop.${fileSystem._1}" -> fileSystem._2,
      "cache-enabled" -> "false",
      "io.manifest.cache-enabled" -> "false"
    ).foreach { case (key, value) => created.conf.set(key, value) }
    add("spark_catalog", classOf[SparkSessionCatalog].getName)
    add("target", classOf[SparkCatalog].getName)
    created.conf.set(fileSystem._1, fileSystem._2)
    created.sql("CREATE NAMESPACE target.db")
    created.sql(s"CREATE DATABASE $database LOCATION '${newDirectory(database).toUri}'")
    created
  }

  private val database = s"import_faults_${SharedSession.counter.incrementAndGet()}"

  override protected def afterAll(): Unit =
    try {
      FaultyFileSystem.disarm()
      FaultyDriver.reset()
    } finally super.afterAll()

  /** Creates a table in the session catalog. @param isManaged whether the catalog owns its files */
  private def source(s: SparkSession, isManaged: Boolean): String = {
    val name = s"$database.s${SharedSession.counter.incrementAndGet()}"
    val location = if (isManaged) "" else s"LOCATION 'ofs://wh$root/sources/$name'"
    s.sql(s"CREATE TABLE $name (id BIGINT, p INT) USING parquet PARTITIONED BY (p) $location")
    s.sql(s"INSERT INTO $name SELECT id, CAST(id % 2 AS INT) FROM range(0, 20, 1, 1)")
    name
  }

  private def rowsOf(s: SparkSession, table: String): Seq[String] = {
    s.sql(s"REFRESH TABLE $table")
    s.sql(s"SELECT * FROM $table").collect().map(_.toString).toSeq.sorted
  }

  private def provider(s: SparkSession, table: String): String =
    s.sql(s"DESCRIBE TABLE EXTENDED $table").collect().find(_.getString(0) == "Provider").get.getString(1)

  private def attempt(s: SparkSession, faults: Faults, fault: Fault, call: Int)(
      statement: String
  ): (Option[Throwable], Int) = {
    faults.arm(fault, call)
    val error = Try(stop.fold(s.sql(statement))(_.run(s.sparkContext)(s.sql(statement)))).failed.toOption
    (error, faults.disarm())
  }

  private def assertCondition(error: Throwable): Unit = if (stop.isEmpty) error match {
    case e: SparkThrowable => assert(e.getErrorClass != null && e.getSqlState != null, e)
    case e => fail("the error is not an error of Spark", e)
  }

  private def snapshot(s: SparkSession, faults: Faults, fault: Fault, call: Int): Int = {
    val from = source(s, isManaged = false)
    val before = rowsOf(s, from)
    val table = s"target.db.${from.split('.').last}"
    val statement = s"CALL target.system.snapshot('spark_catalog.$from', '$table')"
    val (error, calls) = attempt(s, faults, fault, call)(statement)
    error.foreach(assertCondition)
    assert(rowsOf(s, from) == before && provider(s, from) == "parquet")
    val exists = s.catalog.tableExists(table)
    assert(error.isDefined || exists)
    if (!exists) s.sql(statement)
    assert(rowsOf(s, table) == before)
    s.sql(s"DROP TABLE spark_catalog.$from")
    calls
  }

  /** @param isManaged whether the session catalog owns the files of the source */
  private def migrate(isManaged: Boolean)(s: SparkSession, faults: Faults, fault: Fault, call: Int): Int = {
    val table = source(s, isManaged)
    val backup = s"${table}_BACKUP_"
    val before = rowsOf(s, table)
    val statement = s"CALL spark_catalog.system.migrate('$table')"
    val (error, calls) = attempt(s, faults, fault, call)(statement)
    error.foreach(assertCondition)
    val survivor = if (s.catalog.tableExists(table)) table else backup
    assert(rowsOf(s, survivor) == before)
    if (fault != Fault.Outage && error.isDefined && provider(s, survivor) == "parquet") assert(survivor == table)
    if (error.isDefined && marks(s, backup).nonEmpty || provider(s, survivor) == "parquet") s.sql(statement)
    assert(rowsOf(s, table) == before && provider(s, table) == "iceberg" && rowsOf(s, backup) == before)
    assert(marks(s, backup).isEmpty && marks(s, table).isEmpty)
    val stored = s.sessionState.catalog.getTableMetadata(identifier(backup))
    assert(stored.tableType == CatalogTableType.EXTERNAL)
    Seq(table, backup).foreach(name => s.sql(s"DROP TABLE spark_catalog.$name"))
    calls
  }

  private def identifier(table: String): TableIdentifier = TableIdentifier(table.split('.').last, Some(database))

  /** Returns the properties that mark an interrupted migration. */
  private def marks(s: SparkSession, table: String): Seq[String] =
    if (!s.sessionState.catalog.tableExists(identifier(table))) Seq.empty
    else s.sessionState.catalog.getTableMetadata(identifier(table)).properties.keys
      .filter(_.startsWith("iceberg-lite.migrating.")).toSeq

  private type Run = (SparkSession, Faults, Fault, Int) => Int

  private val runs: Seq[(String, Run)] = Seq(
    "snapshot" -> (snapshot(_, _, _, _)),
    "migrate an external table" -> (migrate(isManaged = false)(_, _, _, _)),
    "migrate a managed table" -> (migrate(isManaged = true)(_, _, _, _))
  )

  private def checkAll(chosen: Seq[(String, Run)]): Unit = inSession(session) { s =>
    for (
      (name, run) <- chosen;
      (faults, kinds) <- Seq(
        FaultyFileSystem -> Fault.ofAnyCall,
        DatabaseFaults -> Seq(Fault.Refused, Fault.AnswerLost)
      )
    ) {
      val total = run(s, faults, Fault.Refused, Int.MaxValue)
      for (fault <- if (Sampling.isFast) random.shuffle(kinds).take(1) else kinds) {
        val calls = random.shuffle((1 to total).toVector)
        Sampling.recordSkipped(math.max(0, total - callsPerFault), total, s"faults of $name")
        calls.take(callsPerFault).foreach { call =>
          withClue(s"$name, $fault at call $call of $total: ")(run(s, faults, fault, call))
        }
      }
    }
  }

  test("if a storage or database call fails in a random kind of import, no table is lost, and a rerun completes") {
    checkAll(random.shuffle(runs).take(1))
  }

  test("if any storage or database call fails in snapshot or migrate, no table is lost, and a rerun completes", Slow) {
    checkAll(runs)
  }

  test("if snapshot or migrate is stopped at any storage call, no table is lost, and a rerun completes", Slow) {
    inSession(session) { s =>
      for ((name, run) <- runs; way <- Stop.all) {
        stop = Some(way)
        try {
          val total = run(s, FaultyFileSystem, Fault.Refused, Int.MaxValue)
          val calls = random.shuffle((1 to total).toVector)
          Sampling.recordSkipped(math.max(0, total - callsPerFault), total, s"points of ${way.name}, $name")
          calls.take(callsPerFault).foreach { call =>
            withClue(s"$name, ${way.name} at call $call of $total: ") {
              run(s, FaultyFileSystem, way.fault(s.sparkContext), call)
            }
          }
        } finally stop = None
      }
    }
  }
}
