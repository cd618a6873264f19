package iceberglite.spark.stream.source

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.InEveryRun
import iceberglite.spark.SharedSession
import iceberglite.storage.{HadoopFileIO, RenamingFileSystem}

/**
 * Tests streaming reads with the option `schema-tracking`, which return the rows of each commit with the columns that
 * the table had at that time.
 */
class SchemaTrackingSuite extends AnyFunSuite with SourceFixture {
  private val oneFile = "streaming-max-files-per-micro-batch" -> "1"

  /** A query of a table with its checkpoint, which also contains the recorded columns. */
  private class Query(t: String, options: (String, String)*) {
    val checkpoint: String = newCheckpoint()

    def location: String = checkpoint

    def frame: DataFrame = stream(t, options :+ ("schema-tracking" -> location): _*)

    /** Runs the query with a DataFrame. Returns the rows, and the message of the error that ended the query. */
    def run(frame: DataFrame = frame, trigger: Trigger = Trigger.AvailableNow): (Vector[String], Option[String]) = {
      val found = Vector.newBuilder[String]
      val collect: (DataFrame, Long) => Unit = (batch, _) => found ++= batch.collect().map(_.toString)
      val query =
        frame.writeStream.foreachBatch(collect).option("checkpointLocation", checkpoint).trigger(trigger).start()
      val error =
        try {
          if (trigger == Trigger.AvailableNow) query.awaitTermination() else query.processAllAvailable()
          None
        } catch { case e: StreamingQueryException => Some(e.getMessage) }
        finally query.stop()
      (found.result().sorted, error)
    }

    def rows(): Vector[String] = {
      val (found, error) = run()
      assert(error.isEmpty)
      found
    }

    /** Returns the files with columns, in the order of their names. */
    def recordedFiles: Vector[Path] = {
      val files = Files.walk(Paths.get(java.net.URI.create(s"$checkpoint/schema-tracking")))
      try files.iterator.asScala.filter(f => Files.isRegularFile(f) && !f.getFileName.toString.startsWith("."))
          .toVector.sortBy(_.toString)
      finally files.close()
    }

    def recordedFile: Path = recordedFiles match {
      case Vector(file) => file
      case other => fail(s"$other is not one file")
    }
  }

  private def table(): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT, name STRING) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    sql(s"INSERT INTO $t VALUES (1, 'a')")
    t
  }

  private def assertEndsAt(error: Option[String], t: String, change: String): Unit = {
    val message = error.getOrElse(fail("the query did not end"))
    val commits = rows(s"SELECT snapshot_id FROM $t.snapshots").map(_.getLong(0))
    assert(message.contains(change) && message.contains("the same checkpoint location"), message)
    assert(commits.exists(id => message.contains(s"changed with snapshot $id")), message)
    ()
  }

  for (limit <- Seq(None, Some(oneFile))) test(
    "a query that is behind reads each commit with the columns of that time, and ends at each change of the columns " +
      limit.fold("(without limit)")(_ => "(one file for each micro-batch)")
  ) {
    val t = table()
    val query = new Query(t, limit.toSeq: _*)
    assert(query.rows() == Vector("[1,a]"))
    sql(s"INSERT INTO $t VALUES (2, 'b')")
    sql(s"INSERT INTO $t VALUES (3, 'c')")
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    sql(s"INSERT INTO $t VALUES (4, 'd', 40)")
    sql(s"ALTER TABLE $t DROP COLUMN name")
    sql(s"ALTER TABLE $t ALTER COLUMN id TYPE BIGINT")
    sql(s"INSERT INTO $t VALUES (${Long.MaxValue}, 50)")
    val (first, added) = query.run()
    assert(first == Vector("[2,b]", "[3,c]"))
    assertEndsAt(added, t, "column n was added")
    val (second, dropped) = query.run()
    assert(second == Vector("[4,d,40]"))
    assertEndsAt(dropped, t, "column name was dropped")
    assertEndsAt(dropped, t, "column id has the type long instead of int")
    assert(query.rows() == Vector(s"[${Long.MaxValue},50]"))
    sql(s"INSERT INTO $t VALUES (6, 60)")
    assert(query.rows() == Vector("[6,60]"))
  }

  test("a running query ends at the first commit with other columns, and not at the change of the columns", Slow) {
    val t = table()
    val query = new Query(t)
    val frame = query.frame
    assert(query.run(frame, Trigger.ProcessingTime(0))._1 == Vector("[1,a]"))
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    sql(s"ALTER TABLE $t RENAME COLUMN name TO title")
    assert(query.run(frame, Trigger.ProcessingTime(0)) == (Vector.empty -> None))
    sql(s"INSERT INTO $t VALUES (2, 'b', 20)")
    val (none, error) = query.run(frame, Trigger.ProcessingTime(0))
    assert(none.isEmpty)
    assertEndsAt(error, t, "column n was added; column name was renamed to title")
    val (_, outdated) = query.run(frame, Trigger.ProcessingTime(0))
    assert(outdated.exists(_.contains("Create the DataFrame again")), "the DataFrame has the columns before the change")
    assert(query.frame.columns.toSeq == Seq("id", "title", "n") && query.rows() == Vector("[2,b,20]"))
  }

  test("a new query reads all commits before its start with the columns at its start") {
    val t = table()
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    sql(s"INSERT INTO $t VALUES (2, 'b', 20)")
    sql(s"ALTER TABLE $t DROP COLUMN name")
    val query = new Query(t, oneFile)
    assert(query.rows() == Vector("[1,null]", "[2,20]"))
  }

  test(
    "compactions between the position and the change of columns, and a table without rows, do not stop a query",
    Slow
  ) {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    val query = new Query(t)
    assert(query.rows().isEmpty)
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    sql(s"INSERT INTO $t VALUES (1, 10)")
    assertEndsAt(query.run()._2, t, "column n was added")
    assert(query.rows() == Vector("[1,10]"))
    compact(t)
    sql(s"ALTER TABLE $t DROP COLUMN n")
    compact(t)
    sql(s"INSERT INTO $t VALUES (2)")
    val (none, error) = query.run()
    assert(none.isEmpty)
    assertEndsAt(error, t, "column n was dropped")
    assert(query.rows() == Vector("[2]"))
  }

  test("a change of columns is a new file, and no file is replaced, which a file system may not support", Slow) {
    val t = table()
    spark.conf.set("fs.renaming.impl", classOf[RenamingFileSystem].getName)
    val query = new Query(t) {
      override def location: String = s"renaming://disk${Paths.get(java.net.URI.create(checkpoint))}"
    }
    query.rows()
    val first = query.recordedFile
    val contents = Files.readAllBytes(first).toSeq
    for (column <- Seq("n", "m")) {
      sql(s"ALTER TABLE $t ADD COLUMN $column INT")
      sql(s"INSERT INTO $t (id) VALUES (2)")
      assertEndsAt(query.run()._2, t, s"column $column was added")
    }
    assert(query.recordedFiles.map(_.getFileName.toString) == Vector("0.json", "1.json", "2.json"))
    assert(Files.readAllBytes(first).toSeq == contents)
    assert(query.rows() == Vector("[2,null,null,null]"))
  }

  test("if two runs of a query reach a change of columns at the same time, only one of them records it") {
    val t = table()
    val query = new Query(t)
    val option = "schema-tracking" -> query.checkpoint
    val runs = Vector.fill(2)(streamOf(scanOf(t, option), s"${query.checkpoint}/sources/0"))
    val positions = runs.map(run => run -> run.latestOffset(run.initialOffset(), run.getDefaultReadLimit))
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    sql(s"INSERT INTO $t VALUES (2, 'b', 20)")
    val errors = positions.map { case (run, offset) =>
      intercept[Exception](run.latestOffset(offset, run.getDefaultReadLimit)).getMessage
    }
    assertEndsAt(errors.headOption, t, "column n was added")
    assert(errors(1).contains("1.json exists") && errors(1).contains("another run of a streaming query"), errors)
    assert(query.recordedFiles.size == 2)
  }

  test("columns that another query has recorded, or another streaming read of the same query, are rejected", Slow) {
    val t = table()
    val query = new Query(t)
    def assertRejected(message: String): Unit = {
      assert(message.contains(s"The directory ${query.checkpoint} (option schema-tracking)"), message)
      assert(message.contains("that source 0 of the query") && message.contains("for each streaming read"), message)
      ()
    }
    assert(query.rows() == Vector("[1,a]"))
    assertRejected(failure(query.frame, newCheckpoint()))
    val other = newCheckpoint()
    assert(read(stream(t), other) == Vector("[1,a]"))
    sql(s"INSERT INTO $t VALUES (2, 'b')")
    assertRejected(failure(query.frame, other))
    assert(query.rows() == Vector("[2,b]"))

    val twice = new Query(t)
    val (left, right) = (twice.frame, twice.frame)
    val joins = Seq(left.union(right), left.as("l").join(right.as("r"), "id"))
    joins.foreach { frame =>
      val message = failure(frame, twice.checkpoint)
      assert(message.contains("that source 0 of the query") && message.contains("source 1 of the query"), message)
    }
  }

  test("a micro-batch that is repeated is not read with a DataFrame of other columns", Slow) {
    val t = table()
    val query = new Query(t)
    val outdated = query.frame
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    assert(batches(query.frame, query.checkpoint, failAt = Some(0L)).isEmpty)
    val (none, error) = query.run(outdated)
    assert(none.isEmpty)
    assert(error.exists(e => e.contains("column n was added") && e.contains("Create the DataFrame again")), error)
    assert(query.rows() == Vector("[1,a,null]"))
  }

  test("a DataFrame that is older than a change of columns cannot start a new query", Slow) {
    val t = table()
    val query = new Query(t)
    assert(query.rows() == Vector("[1,a]"))
    val old = query.frame
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    sql(s"INSERT INTO $t VALUES (2, 'b', 20)")
    new HadoopFileIO(new Configuration(false)).deleteDirectory(query.checkpoint)
    assert(query.run(old)._2.exists(_.contains("column n was added")))
    assert(query.rows() == Vector("[1,a,null]", "[2,b,20]"))
  }

  test("commits that the query skips do not end it, whatever columns they have", Slow) {
    val t = table()
    val query = new Query(t, "streaming-skip-delete-snapshots" -> "true")
    sql(s"INSERT INTO $t VALUES (2, 'b')")
    assert(query.rows() == Vector("[1,a]", "[2,b]"))
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    compact(t)
    assert(query.run() == (Vector.empty -> None))
    sql(s"DELETE FROM $t")
    assert(query.run() == (Vector.empty -> None))
    assert(query.recordedFile.endsWith("0.json"))
    sql(s"INSERT INTO $t VALUES (3, 'c', 30)")
    assertEndsAt(query.run()._2, t, "column n was added")
    assert(query.rows() == Vector("[3,c,30]"))
  }

  test(
    "over random changes of columns, commits, limits and restarts, each row is read once with its own columns",
    Slow,
    InEveryRun
  ) {
    val random = new Random(19)
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT, c0 INT) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    val query = new Query(t, oneFile)
    var columns = Vector("c0")
    var expected = Vector.empty[String]
    var found = query.rows()
    for (i <- 1 to 24) {
      random.nextInt(4) match {
        case 0 =>
          sql(s"ALTER TABLE $t ADD COLUMN c$i INT")
          columns :+= s"c$i"
        case 1 if columns.nonEmpty =>
          val dropped = columns(random.nextInt(columns.size))
          sql(s"ALTER TABLE $t DROP COLUMN $dropped")
          columns = columns.filterNot(_ == dropped)
        case _ =>
          val row = i +: columns.map(_.drop(1).toInt * 100 + i)
          sql(s"INSERT INTO $t VALUES (${row.mkString(", ")})")
          expected :+= row.mkString("[", ",", "]")
      }
      if (random.nextInt(3) == 0) found ++= query.run()._1
    }
    // Each run reaches at least the next change of the columns.
    val ends = Iterator.fill(25)(query.run()).map { case (more, error) =>
      found ++= more
      error
    }
    assert(ends.exists(_.isEmpty), "the query has not reached the end of the table")
    assert(found.sorted == expected.sorted && expected.size > 8)
  }

  test(
    "schema-tracking is rejected where it has no effect, and a damaged file of columns is reported by its path",
    Slow
  ) {
    val t = table()
    def message(frame: => DataFrame): String = failure(frame)
    val place = "schema-tracking" -> newCheckpoint()
    val both = intercept[Exception](stream(t, place, "streaming-schema-id" -> "0")).getMessage
    assert(both.contains("remove one of the two options"))
    for (invalid <- Seq(" ", ":x")) {
      val error = intercept[Exception](stream(t, "schema-tracking" -> invalid)).getMessage
      assert(error.contains("schema-tracking") && error.contains("the path of a directory"), error)
    }
    assert(message(stream(s"$t.changes", place)).contains("for a stream of changes"))
    val plain = inSession(SharedSession.withoutExtensions) { s =>
      failure(s.readStream.option(place._1, place._2).table(t))
    }
    assert(plain.contains("without the SQL extensions"), plain)
    val query = new Query(t)
    query.rows()
    val file = query.recordedFile
    val valid = new String(Files.readAllBytes(file), "UTF-8")
    val otherTable = valid.replace(file.getParent.getFileName.toString, java.util.UUID.randomUUID().toString)
    val invalid = Seq("", "[1]", valid.take(40), valid.replace("\"version\":1", "\"version\":9"), otherTable)
    for (damaged <- invalid :+ " " * ((16 << 20) + 1)) {
      // The checksum file of Hadoop's local file system would report the change first.
      Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
      Files.write(file, damaged.getBytes("UTF-8"))
      val error = message(query.frame)
      assert(error.contains(file.toString), error)
      if (invalid.contains(damaged))
        assert(error.contains("Restore the file, or start with a new checkpoint location"), error)
      else assert(error.contains(s"the limit of ${16 << 20} bytes"), error)
    }
  }
}
