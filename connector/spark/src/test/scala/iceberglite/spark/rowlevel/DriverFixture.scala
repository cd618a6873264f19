package iceberglite.spark.rowlevel

import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.Identifier
import org.scalatest.Suite

import iceberglite.{FilesBelow, Sampling}
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.spark.session.LiteCatalog
import iceberglite.table.TestTables
import iceberglite.tree.{ManifestCache, TreeReader}

/** Defines statements for drivers in separate processes, and checks the tables and files that these drivers leave. */
private[iceberglite] trait DriverFixture extends SharedSession { self: Suite =>
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  import DriverFixture.storage

  protected val warehouse: String = s"ofs://dying$storage"

  /** A statement with its own table. @param sql the statement, with `%s` in place of the table name */
  protected case class Case(namespace: String, name: String, version: Int, mode: String, sql: String) {
    val table: String = s"$namespace.${name}_${mode.take(4)}_$version"
    val statement: String = sql.replace("%s", s"dying.$table")
  }

  protected val statements: Seq[(String, String)] = Seq(
    "insert" -> "INSERT INTO %s SELECT id, id % 10 FROM range(1000, 1100)",
    "delete" -> "DELETE FROM %s WHERE n = 3 OR id > 990",
    "update" -> "UPDATE %s SET n = n + 100 WHERE n = 4",
    "merge" -> ("MERGE INTO %s t USING (SELECT id AS k FROM range(950, 1050)) s ON t.id = s.k " +
      "WHEN MATCHED AND s.k % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = -1 " +
      "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.k, -2)")
  )

  protected def casesIn(namespace: String): Seq[Case] = for {
    (name, statement) <- statements
    (version, mode) <- Seq(3 -> "copy-on-write", 2 -> "merge-on-read", 3 -> "merge-on-read")
    if name != "insert" || mode == "copy-on-write"
  } yield Case(namespace, name, version, mode, statement)

  /** Returns `count` cases selected by the seed, or all cases if `ICEBERG_LITE_ALL` is set in the environment. */
  protected def sampled(count: Int, all: Seq[Case]): Seq[Case] =
    if (Sampling.isOff) all
    else {
      Sampling.recordSkipped(
        all.size - count,
        all.size,
        s"statements that ${getClass.getSimpleName} chooses from, ${all.head.namespace.last}"
      )
      new Random(Sampling.seed ^ all.head.namespace.last).shuffle(all).take(count)
    }

  protected val namespaces: Seq[String] = (0 until 4).map(i => s"${ns}_$i")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val settings = DriverProcess.settings(warehouse)
    val catalogs = SharedSession.catalogConf("dying", classOf[SparkCatalog].getName, settings: _*) ++
      SharedSession.catalogConf("icedying", SharedSession.PeerCatalog, settings: _*)
    catalogs.foreach { case (key, value) => spark.conf.set(key, value) }
    namespaces.foreach(name => sql(s"CREATE NAMESPACE dying.$name"))
  }

  protected def create(c: Case): Unit = create(s"dying.${c.table}", c.version, c.mode)

  private def create(table: String, version: Int, mode: String): Unit = {
    val modes = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = '$mode'").mkString(", ")
    sql(
      s"CREATE TABLE $table (id BIGINT, n BIGINT) USING iceberg TBLPROPERTIES ('format-version' = '$version', $modes)"
    )
    sql(s"INSERT INTO $table SELECT id, id % 10 FROM range(0, 1000, 1, 2)")
    ()
  }

  /** Returns the rows of a table before the statement with this name, and after Apache Iceberg ran the statement. */
  protected def expected(name: String): (Seq[String], Seq[String]) = expectedByName.getOrElseUpdate(
    name, {
      val oracle = inApacheIceberg(newTable("oracle"))
      create(oracle, 2, "copy-on-write")
      val rowsBefore = sorted(s"SELECT * FROM $oracle")
      sql(statements.toMap.apply(name).replace("%s", oracle))
      rowsBefore -> sorted(s"SELECT * FROM $oracle")
    }
  )

  private val expectedByName = mutable.Map.empty[String, (Seq[String], Seq[String])]

  /** Checks that both connectors read the expected rows from the table. */
  protected def check(c: Case, expectedRows: Seq[String]): Unit = withClue(s"${c.table}: ") {
    assert(sorted(s"SELECT * FROM dying.${c.table}") == expectedRows)
    assert(sorted(s"SELECT * FROM icedying.${c.table}") == expectedRows)
    ()
  }

  protected def filesOf(c: Case): Set[Path] = FilesBelow.withoutHints(directoryOf(c.table))

  /** @param table the namespace and name of a table */
  protected def directoryOf(table: String): Path = storage.resolve(table.replace('.', '/'))

  /** Runs a program with several drivers in one process, which ends when all of them have died. */
  protected def kill(deaths: Seq[Death], program: String = "iceberglite.spark.rowlevel.DyingDriver"): Unit = {
    val (exit, output) = DriverProcess.run(program, warehouse, deaths.map(_.line), newDirectory())
    assert(exit == DyingDriver.KilledExitCode, output)
    ()
  }

  /** Returns the files in a table's directory that its metadata does not reference. */
  protected def orphans(c: Case): Set[Path] = {
    val Array(namespace, name) = c.table.split('.')
    val table = spark.sessionState.catalogManager.catalog("dying").asInstanceOf[LiteCatalog]
      .sharedTable(Identifier.of(Array(namespace), name)).current
    val tree = new TreeReader(table.io, table.metadata, ManifestCache.Disabled)
    val content = table.metadata.snapshots.flatMap(tree.manifests).flatMap(tree.entries(_).map(_.file.path))
    val referenced = (TestTables.reachable(table.io, table.version) ++ content)
      .map(path => Path.of(path.replaceFirst("^(ofs://dying|file:)", "")))
    assert(referenced.forall(Files.exists(_)), "metadata references a file that does not exist")
    filesOf(c) -- referenced
  }
}

private object DriverFixture {

  /** Root directory of the warehouse of the catalog `dying`. */
  val storage: Path = Files.createTempDirectory(SharedSession.root, "drivers")
}
