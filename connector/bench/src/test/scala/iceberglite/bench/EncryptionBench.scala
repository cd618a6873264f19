package iceberglite.bench

import org.apache.spark.sql.{DataFrame, SparkSession}

import iceberglite.spark.encryption.EncryptedSession

/**
 * Measures what encryption costs, in iceberg-lite and in Apache Iceberg: writes and scans of the same rows in plain and
 * in encrypted Parquet tables of format version 3, in file-system catalogs on the local disk, with two cores.
 *
 * In each round, each connector creates both tables, writes the rows in four files, and runs each query on both tables
 * alternately. The first round is not measured. The arguments are the number of rows (by default 2,000,000) and the
 * number of measured rounds (by default 5).
 */
object EncryptionBench {
  private val Columns = Seq(
    "id",
    "cast(id * 2654435761 % 1000003 as int) i1",
    "id * 0.37D d1",
    "cast(id % 1000000 / 100 as decimal(18,2)) dec",
    "concat('category-', id % 50) s_low",
    "concat('user-', xxhash64(id)) s_high",
    "date_add(date'2024-01-01', cast(id % 30 as int)) dt",
    "timestamp_seconds(1704067200 + id % 2592000) ts"
  )

  private val Files = 4
  private val RunsPerRound = 3

  private val Queries: Seq[(String, DataFrame => Unit)] = Seq(
    "scan of all columns" -> (_.write.format("noop").mode("overwrite").save()),
    "aggregate of four columns" -> { rows =>
      rows.selectExpr("count(id)", "sum(dec)", "max(s_high)", "sum(i1)").collect()
      ()
    },
    "one of 50,000 rows" -> { rows =>
      rows.where("id % 50000 = 7 AND id < 100000").collect()
      ()
    }
  )

  final private case class Engine(name: String, session: SparkSession, catalog: String)

  /** The time of an action on a table, in ms. */
  final private case class Measured(engine: String, action: String, encrypted: Boolean, ms: Double)

  def main(args: Array[String]): Unit = {
    val rows = args.headOption.fold(2000000L)(_.toLong)
    val rounds = args.lift(1).fold(5)(_.toInt)
    val engines = Seq(
      Engine("iceberg-lite", EncryptedSession.session, "enc"),
      Engine("Apache Iceberg", EncryptedSession.peerSession, "encice")
    )
    engines.head.session.sql("CREATE NAMESPACE IF NOT EXISTS enc.bench")
    val measured = (0 to rounds).map { round =>
      (if (round % 2 == 0) engines else engines.reverse).flatMap(oneRound(_, rows, round))
    }
    print(report(measured.tail.flatten, engines.map(_.name)))
    engines.foreach(_.session.stop())
  }

  private def oneRound(engine: Engine, rows: Long, round: Int): Seq[Measured] = {
    SparkSession.setActiveSession(engine.session)
    val tables = Seq(false, true).map(encrypted => encrypted -> created(engine, encrypted, round))
    val order = if (round % 2 == 0) tables else tables.reverse
    val writes = order.map { case (encrypted, table) =>
      val source = engine.session.range(0, rows, 1, Files).selectExpr(Columns: _*)
      Measured(engine.name, "write", encrypted, Timing.of(source.writeTo(table).append())._1)
    }
    val reads = for {
      (action, query) <- Queries
      _ <- 0 until RunsPerRound
      (encrypted, table) <- order
    } yield Measured(engine.name, action, encrypted, Timing.of(query(engine.session.table(table)))._1)
    tables.foreach { case (_, table) => engine.session.sql(s"DROP TABLE $table PURGE") }
    writes ++ reads
  }

  private def created(engine: Engine, encrypted: Boolean, round: Int): String = {
    val table = s"${engine.catalog}.bench.${if (encrypted) "encrypted" else "plain"}_$round"
    val key = if (encrypted) ", 'encryption.key-id' = 'master'" else ""
    val source = engine.session.range(1).selectExpr(Columns: _*)
    engine.session.sql(s"CREATE TABLE $table (${source.schema.toDDL}) USING iceberg " +
      s"TBLPROPERTIES ('format-version' = '3', 'write.parquet.compression-codec' = 'zstd'$key)")
    table
  }

  private def report(measured: Seq[Measured], engines: Seq[String]): String = {
    val lines = measured.map(_.action).distinct.flatMap { action =>
      engines.map { engine =>
        val ofAction = measured.filter(m => m.action == action && m.engine == engine)
        val (encrypted, plain) = ofAction.partition(_.encrypted)
        val times = Seq(plain, encrypted).map(m => Timing.median(m.map(_.ms)))
        f"| $action | $engine | ${times.head}%.0f | ${times.last}%.0f | ${times.last / times.head}%.2f |"
      }
    }
    val head = Seq("| action | connector | plain, ms | encrypted, ms | encrypted / plain |", "|---|---|---|---|---|")
    (head ++ lines).mkString("", "\n", "\n")
  }
}
