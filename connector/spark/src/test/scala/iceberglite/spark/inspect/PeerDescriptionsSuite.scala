package iceberglite.spark.inspect

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.inspect.{HealthTable, MetadataTable, MetadataTables, MetadataTreeTable, PropertiesTable}
import iceberglite.spark.SharedSession
import iceberglite.spark.changelog.ChangelogTable

/** Compares metadata tables, properties and descriptions with those of Apache Iceberg. */
class PeerDescriptionsSuite extends AnyFunSuite with SharedSession {

  /** Statements that create tables of several kinds; `{t}` stands for the table. */
  private val tables: Seq[Seq[String]] = Seq(
    Seq("CREATE TABLE {t} (id INT NOT NULL, s STRING) USING iceberg TBLPROPERTIES ('format-version' = '1')"),
    Seq(
      "CREATE TABLE {t} (id INT, s STRING, d DOUBLE, ts TIMESTAMP, p STRUCT<x: INT, y: ARRAY<BINARY>>, " +
        "m MAP<STRING, DECIMAL(9, 2)>) USING iceberg PARTITIONED BY (bucket(4, id), truncate(s, 2), days(ts), d)"
    ),
    Seq(
      "CREATE TABLE {t} (id INT, s STRING) USING iceberg PARTITIONED BY (s) TBLPROPERTIES ('format-version' = '3')",
      "ALTER TABLE {t} REPLACE PARTITION FIELD s WITH truncate(s, 3)",
      "ALTER TABLE {t} ADD PARTITION FIELD id",
      "ALTER TABLE {t} WRITE ORDERED BY id"
    )
  )

  /** The metadata tables that Apache Iceberg does not have. */
  private val onlyOurs: Set[MetadataTable] = Set(HealthTable, MetadataTreeTable, PropertiesTable)

  private def create(statements: Seq[String]): String = {
    val t = newTable()
    statements.foreach(s => sql(s.replace("{t}", inApacheIceberg(t))))
    t
  }

  /** Removes the comments of fields, which differ from those of Apache Iceberg. */
  private def withoutComments(t: DataType): DataType = t match {
    case s: StructType => StructType(s.map(f => StructField(f.name, withoutComments(f.dataType), f.nullable)))
    case a: ArrayType => a.copy(elementType = withoutComments(a.elementType))
    case m: MapType => m.copy(keyType = withoutComments(m.keyType), valueType = withoutComments(m.valueType))
    case other => other
  }

  private def schema(table: String): Seq[StructField] =
    withoutComments(spark.table(table).schema).asInstanceOf[StructType]

  test("the metadata tables of both connectors have the same columns, types and nullability") {
    val differences = for {
      t <- tables.map(create)
      table <- MetadataTables.all.filterNot(onlyOurs).map(_.name) :+ ChangelogTable.Name
      (ours, theirs) = (schema(s"$t.$table"), schema(s"${inApacheIceberg(t)}.$table"))
      if ours != theirs
    } yield s"$table: ${ours.diff(theirs).mkString(", ")} instead of ${theirs.diff(ours).mkString(", ")}"
    assert(differences.isEmpty, differences.mkString("\n", "\n", ""))
  }

  test("sort orders are described as in Apache Iceberg", Slow) {
    val t = create(tables(1))
    Seq(
      "id",
      "truncate(s, 2)",
      "truncate(2, s)",
      "bucket(8, id)",
      "bucket(id, 8)",
      "days(ts) DESC",
      "hours(ts)",
      "p.x",
      "years(ts) NULLS LAST, truncate(s, 3) DESC NULLS FIRST"
    ).foreach { order =>
      sql(s"REFRESH TABLE $t")
      sql(s"ALTER TABLE $t WRITE ORDERED BY $order")
      sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
      def described(table: String): String = rows(s"SHOW TBLPROPERTIES $table ('sort-order')").head.getString(1)
      assert(described(t) == described(inApacheIceberg(t)), order)
    }
  }

  test("partitions are described as in Apache Iceberg") {
    tables.map(create).foreach { t =>
      def described(table: String): Seq[String] =
        rows(s"DESCRIBE TABLE $table").map(_.toString.replace("lite.", "ice.")).filter(_.contains("Part"))
      def statement(table: String): Option[String] = rows(s"SHOW CREATE TABLE $table").head.getString(0)
        .split('\n').find(_.startsWith("PARTITIONED BY"))
      assert(described(t) == described(inApacheIceberg(t)))
      assert(statement(t) == statement(inApacheIceberg(t)))
    }
  }

  test("both argument orders of truncate and bucket are accepted, except bucket(column, number) in CREATE TABLE") {
    Seq("truncate(s, 2)" -> "truncate(2, s)", "bucket(4, id)" -> "bucket(id, 4)").foreach { case (form1, form2) =>
      val descriptions = Seq(form1, form2).map { form =>
        val t = newTable()
        // In CREATE TABLE, bucket is parsed by Spark's parser, which accepts the number only as the first argument.
        val parsed = if (form.startsWith("bucket")) form1 else form
        sql(s"CREATE TABLE $t (id INT, s STRING) USING iceberg PARTITIONED BY ($parsed)")
        sql(s"ALTER TABLE $t DROP PARTITION FIELD $form")
        sql(s"ALTER TABLE $t ADD PARTITION FIELD $form")
        sql(s"ALTER TABLE $t REPLACE PARTITION FIELD $form WITH id")
        sql(s"ALTER TABLE $t REPLACE PARTITION FIELD id WITH $form AS named")
        sql(s"ALTER TABLE $t WRITE ORDERED BY $form")
        val properties = rows(s"SHOW TBLPROPERTIES $t").map(_.toString).filter(_.contains("sort-order"))
        (rows(s"DESCRIBE TABLE $t").map(_.toString), properties)
      }
      assert(descriptions.head == descriptions.last)
    }
  }
}
