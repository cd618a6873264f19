package iceberglite.spark.types

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.iceberg.data.IcebergGenerics
import org.apache.iceberg.geospatial.GeospatialBound
import org.apache.iceberg.types.Types
import org.apache.iceberg.{DataFile => PeerFile, Schema => PeerSchema}
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{MetricsRules, SparkRules}
import iceberglite.spark.SharedSession
import iceberglite.spark.write.WriteFixture

/** Tests columns of types geometry and geography: their definitions, their values and their bounds. */
class SpatialColumnsSuite extends AnyFunSuite with JavaTables with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private val v3 = "TBLPROPERTIES ('format-version' = '3')"

  private def types(table: String): Seq[String] =
    loaded(table).schema.columns.asScala.map(c => s"${c.name} ${c.`type`}").toSeq

  private def wkt(text: String): String = s"lite.system.st_geomfromtext('$text')"

  test("columns are declared with CRS and edges, and shown with them", SparkRules.spatialColumns) {
    val t = newTable()
    sql(s"""CREATE TABLE $t (id BIGINT, geometry GEOMETRY COMMENT 'the (shape)', m GEOMETRY('EPSG:3857') NOT NULL,
      g GEOGRAPHY, e Geography ( 'OGC:CRS84' , 'KARNEY' ), c GEOGRAPHY('EPSG:4979'),
      s STRUCT<a: GEOMETRY('srid:1'), b: ARRAY<GEOGRAPHY>>, v VARIANT) USING iceberg $v3""")
    val expected = Seq(
      "id long",
      "geometry geometry(OGC:CRS84)",
      "m geometry(EPSG:3857)",
      "g geography(OGC:CRS84, spherical)",
      "e geography(OGC:CRS84, karney)",
      "c geography(EPSG:4979, spherical)",
      "s struct",
      "v variant"
    )
    assert(types(t).map(_.takeWhile(_ != '<')) == expected)
    assert(loaded(t).schema.findType("s.a").toString == "geometry(srid:1)")
    assert(loaded(t).schema.findType("s.b.element").toString == "geography(OGC:CRS84, spherical)")
    val described = rows(s"DESCRIBE $t").map(r => r.getString(0) -> r.getString(1)).toMap
    assert(described("geometry") == "geometry" && described("m") == "geometry(EPSG:3857)")
    assert(described("e") == "geography(OGC:CRS84, karney)" && described("c") == "geography(EPSG:4979)")
    assert(described("s").contains("a:geometry(srid:1)") && described("v") == "variant")
    val created = rows(s"SHOW CREATE TABLE $t").head.getString(0)
    assert(created.contains("m GEOMETRY('EPSG:3857') NOT NULL") && created.contains("geometry GEOMETRY COMMENT"))
    assert(created.contains("e GEOGRAPHY('OGC:CRS84', 'karney')") && created.contains("v VARIANT"))
    val copy = newTable()
    sql(created.replace(t, copy).replaceAll("LOCATION '[^']*'", ""))
    assert(types(copy) == types(t))
    val like = newTable()
    sql(s"CREATE TABLE $like LIKE $t")
    assert(types(like) == types(t))
    def details(table: String) = rows(s"DESCRIBE EXTENDED $table").map(r => r.getString(0) -> r.getString(1))
    assert(details(t).map(_._1).contains("Table Properties") && details(t).contains("m" -> "geometry(EPSG:3857)"))
    assert(details(t).map(_._1).containsSlice(Seq("# Metadata Columns", "_spec_id")), details(t))
    assert(spark.table(t).schema("m").dataType == org.apache.spark.sql.types.BinaryType)
  }

  test(
    "columns are added, and columns of binaries and of older format versions are rejected",
    SparkRules.spatialColumns
  ) {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT) USING iceberg $v3")
    sql(s"ALTER TABLE $t ADD COLUMNS (g GEOMETRY('EPSG:25832') FIRST, h GEOGRAPHY)")
    assert(types(t).take(2) == Seq("g geometry(EPSG:25832)", "id long"))
    sql(s"INSERT INTO $t (id, g) VALUES (1, ${wkt("POINT (1 2)")})")
    assert(rows(s"SELECT id, lite.system.st_astext(g), h FROM $t") == Seq(Row(1L, "POINT (1 2)", null)))
    sql(s"CREATE OR REPLACE TABLE $t (x GEOMETRY) USING iceberg $v3")
    assert(types(t) == Seq("x geometry(OGC:CRS84)"))
    def failure(statement: String) = messages(intercept[Exception](sql(statement)))
    val old = newTable()
    val version2 = failure(s"CREATE TABLE $old (g GEOMETRY) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    assert(version2.contains("geometry") && version2.contains("format-version to 3"), version2)
    sql(s"CREATE TABLE $old (id INT) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    val added = failure(s"ALTER TABLE $old ADD COLUMN g GEOGRAPHY")
    assert(added.contains("geography") && added.contains("format-version to 3"), added)
    val edges = failure(s"ALTER TABLE $t ADD COLUMN e GEOGRAPHY('OGC:CRS84', 'straight')")
    assert(edges.contains("straight") && edges.contains("spherical, vincenty"), edges)
    assert(failure(s"ALTER TABLE $t ADD COLUMN e GEOMETRY('a, b')").contains("without commas"))
    assert(failure(s"ALTER TABLE $t ADD COLUMN e GEOMETRY('')").contains("coordinate reference system"))
    assert(failure(s"ALTER TABLE $t ADD COLUMN e GEOMETRY('a', 'b')").contains("one CRS"))
    assert(failure(s"ALTER TABLE $t ADD COLUMN e GEOMETRY DEFAULT X'00'").contains("INVALID_DEFAULT_VALUE"))
    assert(types(t) == Seq("x geometry(OGC:CRS84)"))
  }

  test("errors in statements with geometry types have their position, and other uses of the names are left to Spark") {
    val t = newTable()
    def parseError(statement: String) = intercept[ParseException](sql(statement))
    val lines = s"CREATE TABLE $t (\n  g GEOMETRY(\n'EPSG:3857'), a GEOGRAPHY,\n  id BIGINT BIGINT) USING iceberg"
    val syntax = parseError(lines)
    assert(syntax.start.line.contains(4) && syntax.start.startPosition.contains(12), syntax)
    assert(syntax.command.contains(lines) && syntax.getErrorClass == "PARSE_SYNTAX_ERROR", syntax)
    // A number selects no other type.
    val number = parseError(s"CREATE TABLE $t (g GEOMETRY('EPSG:3857'), h GEOMETRY(0)) USING iceberg $v3")
    assert(number.getErrorClass == "UNSUPPORTED_DATATYPE", number)
    sql(s"CREATE TABLE $t (`😀` GEOMETRY('a'), h GEOGRAPHY('b', 'thomas'), i GEOMETRY('c')) USING iceberg $v3")
    val expected = Seq("😀 geometry(a)", "h geography(b, thomas)", "i geometry(c)")
    assert(types(t) == expected)
    val copy = newTable()
    spark.udf.register("geometry", (a: String, b: String) => a + b)
    try sql(s"CREATE TABLE $copy USING iceberg AS SELECT geometry('x', 'y') AS id, 'z' AS geography")
    finally sql("DROP TEMPORARY FUNCTION geometry")
    assert(rows(s"SELECT * FROM $copy") == Seq(Row("xy", "z")))
  }

  private def pointsOf(file: PeerFile, id: Int): Option[(GeospatialBound, GeospatialBound)] = {
    def bound(all: java.util.Map[Integer, ByteBuffer]) =
      Option(all).flatMap(m => Option(m.get(id))).map { bytes =>
        GeospatialBound.fromByteBuffer(bytes.order(java.nio.ByteOrder.LITTLE_ENDIAN))
      }
    for (low <- bound(file.lowerBounds); high <- bound(file.upperBounds)) yield (low, high)
  }

  private def files(t: String): Seq[PeerFile] =
    loaded(t).newScan.includeColumnStats.planFiles.asScala.map(_.file).toSeq

  for (format <- Seq("parquet", "orc", "avro")) {
    test(s"values are checked and have bounds in $format, which Apache Iceberg reads", MetricsRules.spatialBounds) {
      val t = newTable()
      sql(s"""CREATE TABLE $t (id BIGINT, g GEOMETRY, h GEOGRAPHY, s STRUCT<z: GEOMETRY>, l ARRAY<GEOMETRY>)
        USING iceberg TBLPROPERTIES ('format-version' = '3', 'write.format.default' = '$format',
        'write.metadata.metrics.default' = 'truncate(8)')""")
      sql(s"""INSERT INTO $t SELECT /*+ COALESCE(1) */ id, g, h, named_struct('z', z), array(g) FROM VALUES
        (1, ${wkt("LINESTRING (-3 4, 5 -6)")}, ${wkt("POINT (179 10)")}, ${wkt("POINT Z (1 2 3)")}),
        (2, ${wkt("POLYGON EMPTY")}, ${wkt("POINT (-179 20)")}, ${wkt("POINT ZM (0 7 -1 9)")}),
        (3, ${wkt("POINT EMPTY")}, NULL, NULL), (4, NULL, NULL, NULL) AS v(id, g, h, z)""")
      val Seq(file) = files(t)
      val zId = loaded(t).schema.findField("s.z").fieldId
      assert(pointsOf(file, 2) == Some((GeospatialBound.createXY(-3, -6), GeospatialBound.createXY(5, 4))))
      assert(pointsOf(file, 3) == Some((GeospatialBound.createXY(-179, 10), GeospatialBound.createXY(179, 20))))
      assert(pointsOf(file, zId) ==
        Some((GeospatialBound.createXYZM(0, 2, -1, 9), GeospatialBound.createXYZM(1, 7, 3, 9))))
      assert(file.nullValueCounts.get(2) == 1L && file.nullValueCounts.get(3) == 2L)
      val edges = newTable()
      sql(s"CREATE TABLE $edges (h GEOGRAPHY) USING iceberg TBLPROPERTIES ('format-version' = '3', " +
        s"'write.format.default' = '$format')")
      sql(s"INSERT INTO $edges VALUES (${wkt("LINESTRING (1 1, 2 2)")})")
      assert(pointsOf(files(edges).head, 1).isEmpty)
      if (format == "parquet") {
        val read = IcebergGenerics.read(loaded(t)).select("g").build()
        try assert(read.asScala.map(r => Option(r.get(0)).map(_.asInstanceOf[ByteBuffer].remaining)).toSet ==
            Set(Some(41), Some(9), Some(21), None))
        finally read.close()
      }
      assertUnchanged(t, "id, hex(g)") {
        val invalid =
          Seq("g" -> "X''", "g" -> "X'0101000000'", "h" -> "X'01020000000000007F'", "l" -> "array(X'0109000000')")
        invalid.foreach {
          case (column, bytes) =>
            val error = messages(intercept[Exception](sql(s"INSERT INTO $t (id, $column) VALUES (9, $bytes)")))
            assert(
              error.contains(s"geometry in column $column") && error.contains("The bytes are not a geometry"),
              error
            )
            assert(error.contains("INVALID_PARAMETER_VALUE"), error)
        }
      }
    }
  }

  test(
    "bounds are kept by compaction, also for geometries that other writers have not checked",
    MetricsRules.spatialBounds
  ) {
    val t = newTable()
    val table = javaTable(
      t,
      new PeerSchema(
        Types.NestedField.optional(1, "id", Types.LongType.get),
        Types.NestedField.optional(2, "g", Types.GeometryType.crs84)
      )
    )
    sql(s"INSERT INTO $t VALUES (1, ${wkt("POINT (1 2)")})")
    sql(s"INSERT INTO $t VALUES (2, ${wkt("POINT (3 -4)")})")
    sql(s"INSERT INTO $t VALUES (3, ${wkt("POINT EMPTY")})")
    def rewrite() = sql(s"CALL lite.system.rewrite_data_files(table => '${t.stripPrefix("lite.")}', " +
      "options => map('min-input-files', '1', 'rewrite-all', 'true'))")
    rewrite()
    def bounds = { table.refresh(); files(t).flatMap(pointsOf(_, 2)) }
    assert(bounds == Seq((GeospatialBound.createXY(1, -4), GeospatialBound.createXY(3, 2))))
    append(table, Seq(Seq(4L, ByteBuffer.wrap(Array[Byte](1, 2, 3)))))
    rewrite()
    assert(bounds.isEmpty && rows(s"SELECT count(g) FROM $t") == Seq(Row(4L)))
    assert(rows(s"SELECT id FROM $t WHERE g = X'010203'") == Seq(Row(4L)))
  }
}
