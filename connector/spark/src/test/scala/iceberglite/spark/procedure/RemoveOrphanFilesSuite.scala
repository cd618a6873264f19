package iceberglite.spark.procedure

import java.net.URI
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path, Paths}

import scala.concurrent.duration._
import scala.util.{Failure, Random, Success, Try}

import org.apache.spark.sql.{AnalysisException, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{FilesBelow, Fuzz, MoreRoundsInSlowTier, Sampling}
import iceberglite.maintenance.orphan._
import iceberglite.spark.SharedSession
import iceberglite.spark.cluster.ClusterJob.distribute
import iceberglite.spark.maintenance.{ClusterListing, CountedListings, PrefixTasks, SessionOrphanSearch, ViewListing}
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.IcebergError
import iceberglite.spec.file.Content
import iceberglite.table.Table
import iceberglite.table.action.FastAppend
import iceberglite.tree.TreeReader

/** Tests `CALL remove_orphan_files`, and compares the results with Apache Iceberg. */
@MoreRoundsInSlowTier
class RemoveOrphanFilesSuite extends AnyFunSuite with StatementFixture {
  // Apache Iceberg's procedures need its SQL extensions. This session has them, unlike that of StatementFixture.
  override lazy val spark: SparkSession = SharedSession.spark
  private val DayMs = 86400000L

  private def directoryOf(t: String): Path = Paths.get(new URI(live(t).location).getPath)

  /** Sets the modification time of all files in the table's directory to the given number of days ago. */
  private def age(t: String, days: Long): Unit = FilesBelow.withoutHints(directoryOf(t)).foreach { file =>
    Files.setLastModifiedTime(file, FileTime.fromMillis(System.currentTimeMillis - days * DayMs - 1))
  }

  private def call(table: String, arguments: String*): Seq[Row] = {
    val Array(catalog, rest) = table.split("\\.", 2)
    rows(s"CALL $catalog.system.remove_orphan_files(${(s"table => '$rest'" +: arguments).mkString(", ")})")
  }

  private def names(result: Seq[Row]): Set[String] = names(result.map(_.getString(0)).toSet)

  private def names(paths: Set[String]): Set[String] = paths.map(_.split('/').last)

  /** Creates a table that both connectors change, and adds unreferenced files to its directory. */
  private def withOrphans(version: Int): (String, Set[Path]) = {
    val t = filled(version, if (version == 1) "copy-on-write" else "merge-on-read")
    sql(s"DELETE FROM $t WHERE id % 7 = 0")
    sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES (-1, -1)")
    sql(s"REFRESH TABLE $t")
    val orphans = Seq("data/orphan.parquet", "data/n=1/a b%20c.parquet", "metadata/orphan-m0.avro", "metadata/x.stats")
      .map(directoryOf(t).resolve)
    orphans.foreach { file =>
      Files.createDirectories(file.getParent)
      Files.write(file, Array[Byte](1))
    }
    (t, orphans.toSet)
  }

  for (version <- Seq(1, 2, 3))
    test(
      s"the same files are orphans as in Apache Iceberg, version $version",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 2): _*
    ) {
      val (t, orphans) = withOrphans(version)
      assert(call(t).isEmpty)
      age(t, 4)
      val before = FilesBelow.withoutHints(directoryOf(t))
      val planned = call(t, "dry_run => true")
      assert(names(planned) == names(call(inApacheIceberg(t), "dry_run => true")) && planned.forall(_.isNullAt(1)))
      assert(FilesBelow.withoutHints(directoryOf(t)) == before)
      val rowsBefore = rows(s"SELECT * FROM $t ORDER BY id")
      assert(names(call(t)) == orphans.map(_.getFileName.toString))
      assert(before -- FilesBelow.withoutHints(directoryOf(t)) == orphans)
      assert(call(t).isEmpty && call(inApacheIceberg(t), "dry_run => true").isEmpty)
      sql(s"REFRESH TABLE $t")
      assert(rows(s"SELECT * FROM $t ORDER BY id") == rowsBefore)
      assert(rows(s"SELECT * FROM ${inApacheIceberg(t)} ORDER BY id") == rowsBefore)
    }

  test("file_list_view provides the list of existing files", Slow) {
    val (t, orphans) = withOrphans(2)
    val all =
      FilesBelow.withoutHints(directoryOf(t)).toSeq.filterNot(_.getFileName.toString.startsWith(".")).map(file =>
        (s"file:$file", new java.sql.Timestamp(0L))
      )
    spark.createDataFrame(all).toDF("file_path", "last_modified").createOrReplaceTempView("listed")
    val planned = call(t, "file_list_view => 'listed'", "dry_run => true")
    assert(names(planned) == orphans.map(_.getFileName.toString))
    val ofData = call(t, "file_list_view => 'listed'", s"location => '${live(t).location}/data'", "dry_run => true")
    assert(names(ofData) == Set("orphan.parquet", "a b%20c.parquet"))
    assert(names(call(t, "file_list_view => 'listed'")) == orphans.map(_.getFileName.toString))
    assert(orphans.forall(!Files.exists(_)))
    sql("CREATE OR REPLACE TEMP VIEW listed AS SELECT 'x' AS file_path, 1 AS last_modified")
    val error = intercept[AnalysisException](call(t, "file_list_view => 'listed'"))
    assert(messages(error).contains("last_modified has the type int"))
  }

  test("a location limits the search to a part of the table; another table's directory is rejected", Slow) {
    val (t, _) = withOrphans(2)
    age(t, 4)
    assert(names(call(t, s"location => '${live(t).location}/metadata'", "dry_run => true")) ==
      Set("orphan-m0.avro", "x.stats"))
    val (other, orphans) = withOrphans(2)
    age(other, 4)
    val error = intercept[AnalysisException](call(t, s"location => '${live(other).location}'"))
    assert(messages(error).contains("location") && orphans.forall(Files.exists(_)))
  }

  test("an age under 24 hours is rejected") {
    val (t, orphans) = withOrphans(2)
    val error = intercept[AnalysisException](call(t, "older_than => current_timestamp() - INTERVAL 23 HOURS"))
    assert(messages(error).contains("at least 24 hours ago") && orphans.forall(Files.exists(_)))
  }

  private val onCluster = new SessionOrphanSearch(spark, (_, _, _) => true)

  private def dryRun(
      t: String,
      search: OrphanSearch,
      listing: Table => FileListing = OrphanRemoval.directory(None),
      options: OrphanOptions = OrphanOptions(Long.MaxValue)
  ): Set[String] = {
    val paths = Set.newBuilder[String]
    new OrphanRemoval(live(t), listing, search, options).dryRun(file => paths += file.path)
    paths.result()
  }

  /** Adds files with random names to random directories below the table's location. */
  private def addRandomFiles(t: String, random: Random): Unit = (0 until 30).foreach { i =>
    def name() = Seq("data", "_hidden", ".b", "id=1", "c d", "%20", "metadata", s"e$i")(random.nextInt(8))
    val directory = Seq.fill(random.nextInt(7))(name()).foldLeft(directoryOf(t))(_.resolve(_))
    Files.createDirectories(directory)
    Files.write(directory.resolve(s"${name()}-$i"), Array[Byte](1))
  }

  test("the driver and the cluster find the same files", Slow) {
    (0 until Fuzz.slowRounds(2)).foreach { round =>
      val random = new Random(Fuzz.seed + round)
      val (t, orphans) = withOrphans(1 + random.nextInt(3))
      addRandomFiles(t, random)
      val expected = dryRun(t, new LocalOrphanSearch)
      assert(names(expected).intersect(orphans.map(_.getFileName.toString)).size == orphans.size && expected.size > 4)
      for (search <- Seq(onCluster, new SessionOrphanSearch(spark, (_, _, _) => false, maxLocalFiles = 3))) {
        assert(dryRun(t, search) == expected)
        assert(dryRun(t, search, OrphanRemoval.directory(None, byPrefix = true)) == expected)
        assert(dryRun(t, search, options = OrphanOptions(olderThanMs = 0L)).isEmpty)
        val inData = dryRun(t, search, OrphanRemoval.directory(Some(s"${live(t).location}/data")))
        assert(inData == expected.filter(_.contains(s"${directoryOf(t)}/data/")))
      }
    }
  }

  test(
    "a listing by prefix is divided among tasks, whose number and prefixes are limited, and finds the same files",
    Slow
  ) {
    val t = filled(2, "copy-on-write")
    val data = directoryOf(t).resolve("data")
    def add(directories: Seq[String]): Seq[Path] = directories.map { name =>
      Files.write(Files.createDirectories(data.resolve(name)).resolve("orphan"), Array[Byte](1))
    }
    def found: Set[String] = dryRun(t, onCluster, OrphanRemoval.directory(None, byPrefix = true))
    def visible: Set[String] = FilesBelow.withoutHints(directoryOf(t)).filterNot(_.getFileName.toString.startsWith("."))
      .map(file => s"file:$file")
    def pathsOf(files: ClusterListing): Seq[String] =
      try files.files.keys.collect().toSeq.filterNot(_.contains("version-hint"))
      finally files.stored.foreach(_.unpersist())
    val table = live(t)
    def listing = PrefixListing.of(new CountedListings(table.io), table.location, table.metadata)
    val few = add((0 until 16).map(i => s"$i/${i % 4}"))
    CountedListings.reset()
    val listed = pathsOf(PrefixTasks.filesIn(spark.sparkContext, listing))
    assert(listed.toSet == visible && listed.size == visible.size)
    assert(CountedListings.below.map(_.split("/data/").last).toSet == (0 until 16).map(_.toString).toSet)
    assert(
      CountedListings.directories.size == 3,
      "the upper levels must be listed once, although their files are returned"
    )
    assert(found == few.map(file => s"file:$file").toSet)
    // A level with more directories is not divided.
    val many = add((0 to PrefixTasks.MaxPrefixes).map(i => s"day=$i"))
    CountedListings.reset()
    assert(pathsOf(PrefixTasks.filesIn(spark.sparkContext, listing)).toSet == visible)
    assert(CountedListings.below.map(_.split('/').last).sorted == Seq("data", "metadata"))
    assert(found == (few ++ many).map(file => s"file:$file").toSet)
    val items = Vector.fill(1000)("x")
    assert(distribute(spark.sparkContext, items, maxTasks = 3).getNumPartitions == 3)
    assert(distribute(spark.sparkContext, items).getNumPartitions > 3)
  }

  test("the driver and the cluster treat other schemes and authorities in the same way", Slow) {
    val (t, _) = withOrphans(2)
    val listed = FilesBelow.withoutHints(directoryOf(t)).toSeq.filterNot(_.getFileName.toString.startsWith("."))
      .zipWithIndex.map { case (file, i) =>
        (
          Seq(s"file:$file", s"hdfs://a$file", s"oss://b$file", s"file://$file", s"$file")(i % 5),
          new java.sql.Timestamp(0L)
        )
      } ++ Seq(("hdfs://a/x/y", new java.sql.Timestamp(0L)), (null, new java.sql.Timestamp(0L)))
    spark.createDataFrame(listed).toDF("file_path", "last_modified").createOrReplaceTempView("mixed")
    val view = ViewListing.of(spark, "mixed", None)
    val equal = EqualPrefixes.of(Map("oss, hdfs" -> "file"), Map("a" -> ""))
    for (prefixes <- Seq(EqualPrefixes.Default, equal); mode <- PrefixMismatch.all) {
      val options = OrphanOptions(Long.MaxValue, prefixes, mode)
      def result(search: OrphanSearch) = Try(dryRun(t, search, _ => view, options)) match {
        case Success(paths) => paths
        case Failure(error) => assert(error.getMessage.contains("prefix_mismatch_mode")); Set("failed")
      }
      val expected = result(new LocalOrphanSearch)
      assert(result(onCluster) == expected && result(new LocalOrphanSearch(3)) == expected, s"$mode $prefixes")
      if (mode == PrefixMismatch.Fail) assert(expected == Set("failed")) else assert(expected.contains("hdfs://a/x/y"))
    }
  }

  test("on the cluster too, a file that another program commits during the search is kept") {
    val (t, orphans) = withOrphans(2)
    val table = live(t)
    val added = directoryOf(t).resolve("data/added.parquet")
    Files.write(added, Array[Byte](1))
    val committing = new SessionOrphanSearch(
      spark,
      (_, _, _) => {
        val file = new TreeReader(table.io, table.metadata).live(table.currentSnapshot.get).map(_.file).toVector
          .find(_.content == Content.Data).get
        table.transaction().add(new FastAppend(Vector(file.copy(path = s"file:$added")))).commit()
        true
      }
    )
    val deleted = Set.newBuilder[String]
    new OrphanRemoval(table, OrphanRemoval.directory(None), committing, OrphanOptions(Long.MaxValue))
      .run(file => deleted += file.path)
    assert(names(deleted.result()) == orphans.map(_.getFileName.toString) && Files.exists(added))
  }

  test("on the cluster too, metadata paths that cannot be compared fail the search before a file is deleted") {
    val (t, orphans) = withOrphans(2)
    val table = live(t)
    val file = new TreeReader(table.io, table.metadata).live(table.currentSnapshot.get).map(_.file).toVector
      .find(_.content == Content.Data).get
    val path = s"${table.location}/data/../data/x.parquet"
    table.transaction().add(new FastAppend(Vector(file.copy(path = path)))).commit()
    for (search <- Seq(new LocalOrphanSearch, onCluster)) {
      val removal = new OrphanRemoval(table, OrphanRemoval.directory(None), search, OrphanOptions(Long.MaxValue))
      assert(intercept[IcebergError](removal.run(_ => ())).getMessage.contains(path))
      assert(orphans.forall(Files.exists(_)))
    }
  }

  test("the search for orphan files of a small table starts no Spark job") {
    val (t, _) = withOrphans(2)
    val context = spark.sparkContext
    def inGroup(group: String)(body: => Any): Unit = {
      context.setJobGroup(group, group)
      try body
      finally context.clearJobGroup()
      ()
    }
    inGroup("small orphans")(dryRun(t, new SessionOrphanSearch(spark)))
    inGroup("large orphans")(dryRun(t, onCluster))
    eventually(timeout(10.seconds))(assert(context.statusTracker.getJobIdsForGroup("large orphans").nonEmpty))
    assert(context.statusTracker.getJobIdsForGroup("small orphans").isEmpty)
  }
}
