package iceberglite.spark.error

import org.apache.spark.sql.functions.{col, expr, lit}
import org.apache.spark.sql.{DataFrame, SparkSession}

import iceberglite.inspect.MetadataTables
import iceberglite.spark.IcebergTable

/**
 * A statement or a call of the DataFrame API.
 *
 * @param label identifies the statement in failure messages
 * @param changes whether the statement may change the tables of the catalog `faulty`, so that they are restored before
 * it runs
 * @param byPath whether the statement names a table by its path
 */
final private[error] case class Case(label: String, changes: Boolean, byPath: Boolean = false)(
    val run: SparkSession => Any
)

/**
 * The snapshots and the location of `faulty.db.t`, and the metadata file of `faultydb.db.t`.
 *
 * @param firstTime timestamp of the first snapshot plus one millisecond
 */
final private[error] case class TableFacts(
    first: Long,
    second: Long,
    onBranch: Long,
    firstTime: String,
    location: String,
    metadataFile: String
)

/** Statements and DataFrame calls of every kind, on the tables that `create` creates. */
private[error] object ErrorBoundaryStatements {
  private val Ns = "faulty.db"
  private val T = s"$Ns.t"

  private def query(text: String): Case = Case(text, changes = false)(_.sql(text).collect())

  private def change(text: String): Case = Case(text, changes = true)(_.sql(text).collect())

  private def frame(label: String)(run: SparkSession => DataFrame): Case =
    Case(label, changes = false)(session => run(session).collect())

  private def write(label: String)(run: SparkSession => Any): Case = Case(label, changes = true)(run)

  private def byPath(c: Case): Case = c.copy(byPath = true)(c.run)

  private def configured(c: Case, pairs: (String, String)*): Case =
    c.copy(label = s"${c.label} with ${pairs.mkString(", ")}") { session =>
      pairs.foreach { case (key, value) => session.conf.set(key, value) }
      c.run(session)
    }

  private def configured(texts: Seq[String], pairs: (String, String)*): Seq[Case] =
    texts.map(text => configured(query(text), pairs: _*))

  private def properties(pairs: (String, String)*) = pairs.map { case (k, v) => s"'$k' = '$v'" }.mkString(", ")

  private val mergeOnRead = Seq("delete", "update", "merge").map(c => s"write.$c.mode" -> "merge-on-read")

  /**
   * Returns statements that create the tables: `t` with copy-on-write, `m` with position deletes and equality deletes,
   * `d` with deletion vectors, `u` for joins, and a copy of `t` in the catalog `faultydb`.
   */
  def create: Seq[String] =
    Seq(
      s"CREATE NAMESPACE $Ns",
      s"CREATE TABLE $T (id BIGINT NOT NULL, part STRING, v DOUBLE) USING iceberg PARTITIONED BY (part) " +
        s"TBLPROPERTIES (${properties("write.wap.enabled" -> "true")})",
      createMergeOnRead(s"$Ns.m"),
      s"CREATE TABLE $Ns.d (id BIGINT, v DOUBLE) USING iceberg TBLPROPERTIES " +
        s"(${properties(mergeOnRead :+ ("format-version" -> "3"): _*)})",
      s"CREATE TABLE $Ns.u (id BIGINT NOT NULL, v DOUBLE) USING iceberg PARTITIONED BY (bucket(4, id))",
      s"ALTER TABLE $Ns.m SET IDENTIFIER FIELDS id",
      s"INSERT INTO $T SELECT id, if(id % 2 = 0, 'a', 'b'), id / 2 FROM range(0, 10, 1, 1)",
      s"INSERT INTO $T SELECT id, 'c', id / 2 FROM range(10, 20, 1, 1)",
      s"ALTER TABLE $T CREATE TAG g",
      s"ALTER TABLE $T CREATE BRANCH b",
      s"INSERT INTO $T.branch_b VALUES (20, 'd', 1)",
      "SET spark.wap.id = w",
      s"INSERT INTO $T VALUES (21, 'e', 1)",
      "RESET spark.wap.id",
      s"INSERT INTO $Ns.m SELECT id, id / 2 FROM range(0, 20, 1, 1)",
      s"DELETE FROM $Ns.m WHERE id = 3",
      s"INSERT INTO $Ns.m WITH ('upsert' = 'true') SELECT 4L, 9D",
      s"INSERT INTO $Ns.d SELECT id, id / 2 FROM range(0, 20, 1, 1)",
      s"DELETE FROM $Ns.d WHERE id = 3",
      s"INSERT INTO $Ns.u SELECT id, id / 2 FROM range(5, 12, 1, 1)",
      "CREATE NAMESPACE faultydb.db",
      "CREATE NAMESPACE faultydb.empty",
      s"CREATE TABLE faultydb.db.t USING iceberg AS SELECT * FROM $T"
    )

  private val joined = Seq(
    s"SELECT * FROM $Ns.m JOIN $Ns.u ON m.id = u.id",
    s"SELECT t.id FROM $T JOIN $Ns.u ON t.id = u.id WHERE u.v > 3",
    s"SELECT * FROM $T WHERE part IN (SELECT if(id > 7, 'a', 'c') FROM $Ns.u WHERE v > 3)",
    s"SELECT * FROM $T WHERE v > (SELECT min(v) FROM $Ns.d)"
  )

  val reads: Seq[Case] = (Seq(
    "SHOW NAMESPACES IN faulty",
    s"SHOW TABLES IN $Ns",
    s"SHOW CREATE TABLE $T",
    s"SHOW TBLPROPERTIES $T",
    s"DESCRIBE TABLE EXTENDED $T",
    s"DESCRIBE NAMESPACE EXTENDED $Ns",
    s"EXPLAIN COST SELECT * FROM $T WHERE id = 1",
    s"EXPLAIN FORMATTED SELECT count(*) FROM $T WHERE part = 'a'",
    s"REFRESH TABLE $T",
    s"CACHE TABLE cached AS SELECT * FROM $T",
    s"CACHE TABLE $T",
    s"CALL faulty.system.ancestors_of('db.t')",
    s"CALL faulty.system.create_changelog_view('db.t', 'seen', map(), true, array('id'))"
  ) ++ MetadataTables.all.map(m => s"SELECT * FROM $T.${m.name}")).map(query)

  def queries(facts: TableFacts): Seq[Case] = Seq(
    texts(facts).map(query),
    joined.map(query),
    configured(joined, "spark.sql.autoBroadcastJoinThreshold" -> "-1", "spark.sql.cbo.enabled" -> "true"),
    configured(joined, "spark.sql.adaptive.enabled" -> "false"),
    configured(
      Seq(s"SELECT count(*) FROM $Ns.m WHERE id > 4"),
      "spark.sql.iceberg.data-planning-mode" -> "distributed",
      "spark.sql.iceberg.delete-planning-mode" -> "distributed"
    ),
    configured(Seq(s"SELECT id FROM $Ns.m"), "spark.sql.iceberg.planning.preserve-data-grouping" -> "true")
  ).flatten

  private def texts(facts: TableFacts): Seq[String] = Seq(
    s"SELECT * FROM $T",
    s"SELECT * FROM $T WHERE part = 'a' AND id > 3",
    s"SELECT _file, _pos, _partition FROM $T WHERE v BETWEEN 1 AND 2",
    s"SELECT count(*), min(id), max(v) FROM $T",
    s"SELECT part, count(*) FROM $T GROUP BY part",
    s"SELECT part, sum(v) FROM $T GROUP BY part HAVING sum(v) > 1",
    s"SELECT * FROM $T ORDER BY id LIMIT 2",
    s"SELECT * FROM $T LIMIT 1",
    s"SELECT * FROM $Ns.m",
    s"SELECT count(*) FROM $Ns.d",
    s"SELECT sum(v) FROM $Ns.d",
    s"SELECT * FROM $T VERSION AS OF ${facts.first}",
    s"SELECT * FROM $T VERSION AS OF 'g'",
    s"SELECT * FROM $T TIMESTAMP AS OF '${facts.firstTime}'",
    s"SELECT * FROM $T.branch_b",
    s"SELECT * FROM $T.snapshot_id_${facts.first}.files",
    s"SELECT * FROM $T.changes WHERE part = 'a'",
    s"SELECT * FROM $T.changes WHERE _change_type = 'insert' AND _change_ordinal > 0"
  )

  def frames(facts: TableFacts): Seq[Case] = {
    def source(options: (String, String)*)(name: String) =
      frame(s"read $name with ${options.mkString(", ")}") { session =>
        session.sql("USE faulty.db")
        session.read.format("iceberg-lite").options(options.toMap).load(name)
      }
    Seq(
      source()(T),
      source()("t"),
      byPath(source()(facts.location)),
      source("snapshot-id" -> facts.first.toString)(T),
      byPath(source("tag" -> "g")(facts.location)),
      source("branch" -> "b")(T),
      source("start-snapshot-id" -> facts.first.toString)(T),
      source("start-snapshot-id" -> facts.first.toString, "end-snapshot-id" -> facts.second.toString)(s"$T.changes"),
      byPath(frame("path by SQL") { session =>
        session.sql("USE faulty")
        session.sql(s"SELECT * FROM `${facts.location}`")
      }),
      byPath(frame("path from the session catalog")(_.read.format("iceberg-lite").load(facts.location))),
      frame("table")(_.table(T)),
      frame("cache")(session => session.table(T).cache()),
      frame("changelog view") { session =>
        session.sql(s"CALL faulty.system.create_changelog_view(table => 'db.t', net_changes => true)")
        session.table("t_changes")
      },
      frame("forName")(session => IcebergTable.forName(session, T).toDF),
      Case("exists", changes = false)(_.catalog.tableExists(T)),
      Case("columns", changes = false)(_.catalog.listColumns(T).collect()),
      Case("refresh by API", changes = false)(_.catalog.refreshTable(T)),
      Case("tables", changes = false)(_.catalog.listTables(Ns).collect())
    )
  }

  def definitions: Seq[Case] = (tables ++ alterations).map(change)

  private val tables: Seq[String] = Seq(
    "CREATE NAMESPACE faulty.other",
    "CREATE NAMESPACE IF NOT EXISTS faulty.db.inner",
    s"DROP NAMESPACE IF EXISTS faulty.gone",
    s"CREATE TABLE $Ns.n (id BIGINT, part STRING) USING iceberg PARTITIONED BY (part)",
    s"CREATE TABLE IF NOT EXISTS $T (id BIGINT) USING iceberg",
    s"CREATE TABLE $Ns.n USING iceberg PARTITIONED BY (part) AS SELECT * FROM $T",
    s"CREATE OR REPLACE TABLE $T USING iceberg AS SELECT id, 1 AS x FROM range(0, 5, 1, 1)",
    s"REPLACE TABLE $T (id BIGINT) USING iceberg",
    s"REPLACE TABLE $T USING iceberg AS SELECT * FROM $Ns.u",
    s"DROP TABLE $T",
    s"DROP TABLE IF EXISTS $Ns.d PURGE",
    s"TRUNCATE TABLE $T"
  )

  private val alterations: Seq[String] = Seq(
    "ADD COLUMN x STRUCT<y: INT>",
    "DROP COLUMN v",
    "RENAME COLUMN v TO w",
    "ALTER COLUMN id COMMENT 'key'",
    "SET TBLPROPERTIES ('a' = 'b')",
    "UNSET TBLPROPERTIES ('a')",
    "ADD PARTITION FIELD bucket(8, id)",
    "DROP PARTITION FIELD part",
    "REPLACE PARTITION FIELD part WITH truncate(1, part)",
    "WRITE ORDERED BY id",
    "CLUSTER BY (id)",
    "SET IDENTIFIER FIELDS id",
    "DROP IDENTIFIER FIELDS id",
    "CREATE BRANCH c",
    "CREATE OR REPLACE TAG g RETAIN 5 DAYS",
    "REPLACE BRANCH b",
    "DROP BRANCH b",
    "DROP TAG IF EXISTS g"
  ).map(text => s"ALTER TABLE ${if (text.startsWith("DROP IDENTIFIER")) s"$Ns.m" else T} $text")

  def procedures(facts: TableFacts): Seq[Case] =
    (Seq(
      s"rollback_to_snapshot('db.t', ${facts.first})",
      s"rollback_to_timestamp('db.t', TIMESTAMP '${facts.firstTime}')",
      s"set_current_snapshot('db.t', ${facts.first})",
      s"cherrypick_snapshot('db.t', ${facts.onBranch})",
      "publish_changes('db.t', 'w')",
      "fast_forward('db.t', 'main', 'b')",
      "convert_equality_deletes('db.m')",
      s"expire_snapshots(table => 'db.t', snapshot_ids => array(${facts.first}))",
      s"restore('db.t', ${facts.first})",
      "clone('db.t', 'db.n')",
      s"rewrite_table_path('db.t', '${facts.location}', '${facts.location}-moved')"
    ).map(call => change(s"CALL faulty.system.$call")) ++ MaintenanceStatements.all.map(_._2) :+ MaintenanceStatements
      .addFiles) ++ Seq(
      s"RESTORE TABLE $T TO VERSION AS OF ${facts.first}",
      s"OPTIMIZE $T WHERE id < 5 ZORDER BY (id)",
      s"VACUUM $T",
      s"ANALYZE TABLE $T COMPUTE STATISTICS FOR COLUMNS id"
    ).map(change)

  def rowChanges: Seq[Case] = {
    def merge(table: String) =
      s"MERGE INTO $table x USING $Ns.u ON x.id = u.id WHEN MATCHED AND u.id = 6 THEN DELETE " +
        "WHEN MATCHED THEN UPDATE SET v = u.v + 1"
    Seq(
      s"INSERT INTO $T VALUES (30, 'a', 1), (31, 'z', 2)",
      s"INSERT INTO $T (id) VALUES (30)",
      s"INSERT INTO $T.branch_b SELECT * FROM $T",
      s"INSERT OVERWRITE $T PARTITION (part = 'a') SELECT 7L, 1D",
      s"INSERT OVERWRITE $T SELECT * FROM $T",
      s"INSERT INTO $T REPLACE WHERE id < 5 SELECT 1L, 'a', 1D",
      s"INSERT INTO $Ns.m WITH ('upsert' = 'true') SELECT 5L, 9D",
      s"DELETE FROM $T WHERE part = 'a'",
      s"DELETE FROM $T WHERE id = 4",
      s"DELETE FROM $Ns.m WHERE id = 5",
      s"DELETE FROM $Ns.d WHERE id IN (SELECT id FROM $Ns.u)",
      s"DELETE FROM $T.branch_b WITH ('statement-retries' = '1') WHERE id = 4",
      s"UPDATE $T SET v = 0 WHERE id = 4",
      s"UPDATE $Ns.m SET v = 0 WHERE id = 4",
      s"UPDATE $Ns.d SET v = 0 WHERE id IN (SELECT id FROM $Ns.u)",
      s"${merge(T)} WHEN NOT MATCHED THEN INSERT (id, part, v) VALUES (u.id, 'x', u.v)",
      s"${merge(s"$Ns.d")} WHEN NOT MATCHED BY SOURCE THEN DELETE",
      s"MERGE WITH SCHEMA EVOLUTION INTO $Ns.d x USING (SELECT id, 1 AS added FROM $Ns.u) s ON x.id = s.id " +
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    ).map(change) ++ Seq(
      configured(
        change(s"INSERT OVERWRITE $T SELECT 7L, 'a', 1D"),
        "spark.sql.sources.partitionOverwriteMode" -> "dynamic"
      ),
      // With adaptive execution, Spark fails for this join even without a fault.
      configured(
        change(s"${merge(s"$Ns.m")} WHEN NOT MATCHED THEN INSERT *"),
        "spark.sql.adaptive.enabled" -> "false"
      )
    )
  }

  /** Appends a row to `t` by its path, so that the DataFrames of the session must load the table again. */
  private def appendByPath(session: SparkSession, facts: TableFacts): Unit = {
    session.sql("USE faulty")
    session.sql(s"INSERT INTO `${facts.location}` VALUES (40, 'a', 1)")
    ()
  }

  private def frameAfterCommit(name: String, facts: TableFacts): Case =
    byPath(write(s"a DataFrame of $name after a commit") {
      session =>
        val frame = session.table(name)
        appendByPath(session, facts)
        frame.collect()
    })

  def writes(facts: TableFacts): Seq[Case] = {
    def rows(session: SparkSession) =
      session.range(0, 4, 1, 1).select(col("id"), lit("a").as("part"), expr("id / 2D v"))
    Seq(
      write("append")(rows(_).writeTo(T).option("snapshot-property.x", "y").append()),
      write("append ORC")(rows(_).writeTo(T).option("write-format", "orc").option("fanout-enabled", "true").append()),
      write("append Avro")(rows(_).writeTo(T).option("write-format", "avro").append()),
      write("overwrite by condition")(rows(_).writeTo(T).overwrite(col("id") < 3)),
      write("overwrite by partition")(rows(_).writeTo(T).overwrite(col("part") === "a")),
      write("overwrite partitions")(rows(_).writeTo(T).overwritePartitions()),
      write("upsert")(s =>
        s.range(3, 6).select(col("id"), lit(1d).as("v")).writeTo(s"$Ns.m").option("upsert", "true")
          .append()
      ),
      write("create")(rows(_).writeTo(s"$Ns.n").using("iceberg").create()),
      write("create or replace")(rows(_).writeTo(T).using("iceberg").createOrReplace()),
      write("save by name")(rows(_).write.format("iceberg-lite").mode("append").save(T)),
      write("replaceWhere")(rows(_).write.format("iceberg-lite").mode("overwrite").option("replaceWhere", "part = 'a'")
        .save(T)),
      byPath(write("save by path") { session =>
        session.sql("USE faulty")
        rows(session).write.format("iceberg-lite").mode("append").save(facts.location)
      }),
      byPath(write("save to a new path") { session =>
        session.sql("USE faulty")
        rows(session).write.format("iceberg-lite").save(facts.location.replaceFirst("/t$", "/n"))
      }),
      frameAfterCommit(T, facts),
      frameAfterCommit(s"$T.files", facts),
      frameAfterCommit(s"$T.changes", facts),
      byPath(write("merge of a DataFrame after a commit") { session =>
        val source = session.table(T).join(session.table(s"$T.files"), col("id") === col("record_count"), "left")
          .select(col("id"))
        appendByPath(session, facts)
        IcebergTable.forName(session, s"$Ns.m").merge(source, "target.id = source.id").whenMatchedDelete().execute()
      }),
      write("saveAsTable")(rows(_).write.format("iceberg").mode("append").saveAsTable(T)),
      write("IcebergTable.delete")(IcebergTable.forName(_, T).delete("id = 4")),
      write("IcebergTable.update")(IcebergTable.forName(_, s"$Ns.m").update("id = 5", Map("v" -> lit(1d)))),
      write("IcebergTable.merge")(session =>
        IcebergTable.forName(session, T).merge(session.table(s"$Ns.u"), "target.id = source.id").whenMatchedDelete()
          .execute()
      )
    )
  }

  /** Returns a statement that creates a table whose write modes are merge-on-read. */
  def createMergeOnRead(table: String): String = s"CREATE TABLE $table (id BIGINT NOT NULL, v DOUBLE) USING iceberg " +
    s"PARTITIONED BY (bucket(4, id)) TBLPROPERTIES (${properties(mergeOnRead: _*)})"

  /** Returns statements on a table that [[createMergeOnRead]] creates. */
  def statementsOn(table: String): Seq[String] = Seq(
    s"SELECT count(*), sum(v) FROM $table WHERE id > 1",
    s"DESCRIBE TABLE EXTENDED $table",
    s"SELECT * FROM $table.files",
    s"SELECT * FROM $table.changes",
    s"INSERT INTO $table VALUES (20, 1)",
    s"INSERT OVERWRITE $table SELECT id, v + 1 FROM $table",
    s"DELETE FROM $table WHERE id = 5",
    s"UPDATE $table SET v = 0 WHERE id = 4",
    s"MERGE INTO $table x USING (SELECT 4L AS id) y ON x.id = y.id WHEN MATCHED THEN DELETE",
    s"INSERT INTO $table WITH ('upsert-keys' = 'id') VALUES (5, 1)",
    s"ALTER TABLE $table SET TBLPROPERTIES ('a' = 'b')"
  )

  def onDatabase(facts: TableFacts): Seq[Case] = Seq(
    "SHOW NAMESPACES IN faultydb",
    "SHOW TABLES IN faultydb.db",
    "DESCRIBE NAMESPACE EXTENDED faultydb.db",
    "SELECT * FROM faultydb.db.t",
    "SELECT * FROM faultydb.db.t.history",
    "REFRESH TABLE faultydb.db.t",
    "CREATE NAMESPACE faultydb.other COMMENT 'x'",
    "ALTER NAMESPACE faultydb.db SET PROPERTIES ('a' = 'b')",
    "DROP NAMESPACE faultydb.empty",
    "CREATE TABLE faultydb.db.n (id BIGINT) USING iceberg",
    "CREATE TABLE faultydb.db.n USING iceberg AS SELECT * FROM faultydb.db.t",
    "CREATE OR REPLACE TABLE faultydb.db.t USING iceberg AS SELECT id FROM faultydb.db.t",
    "ALTER TABLE faultydb.db.t RENAME TO db.n",
    "ALTER TABLE faultydb.db.t SET TBLPROPERTIES ('a' = 'b')",
    "ALTER TABLE faultydb.db.t CREATE TAG x",
    "DROP TABLE faultydb.db.t",
    "INSERT INTO faultydb.db.t VALUES (1, 'a', 1)",
    "DELETE FROM faultydb.db.t WHERE id = 4",
    "MERGE INTO faultydb.db.t x USING (SELECT 4 AS id) y ON x.id = y.id WHEN MATCHED THEN UPDATE SET v = 0",
    s"CALL faultydb.system.register_table('db.n', '${facts.metadataFile}')"
  ).map(query)
}
