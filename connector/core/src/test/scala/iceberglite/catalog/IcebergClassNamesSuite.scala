package iceberglite.catalog

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.table.MemoryFileIO

/** Tests [[IcebergClassNames]], which interprets Apache Iceberg's class names in the configuration of a catalog. */
class IcebergClassNamesSuite extends AnyFunSuite {
  private val warehouse = "warehouse" -> "mem://wh"
  private def open(properties: (String, String)*): Catalog =
    Catalogs.open("lite", (properties :+ warehouse).toMap, new MemoryFileIO)

  test("the class name of an Apache Iceberg catalog determines the catalog type") {
    assert(open("catalog-impl" -> "org.apache.iceberg.hadoop.HadoopCatalog").isInstanceOf[HadoopCatalog])
    val both = open("catalog-impl" -> "org.apache.iceberg.hadoop.HadoopCatalog", "type" -> "HADOOP")
    assert(both.isInstanceOf[HadoopCatalog])
  }

  test("an unsupported catalog class, or a class that contradicts the type, is rejected") {
    val glue = "org.apache.iceberg.aws.glue.GlueCatalog"
    Seq(glue, "org.apache.iceberg.nessie.NessieCatalog", "com.example.Mine").foreach {
      impl =>
        val message = intercept[Unsupported](open("catalog-impl" -> impl)).getMessage
        assert(message.contains(impl) && message.contains("catalog lite") && message.contains("hadoop, jdbc"))
    }
    val error = intercept[InvalidArgument](
      open("catalog-impl" -> "org.apache.iceberg.jdbc.JdbcCatalog", "type" -> "hadoop")
    )
    assert(error.getMessage.contains("catalog-impl, which selects the type jdbc"))
  }

  test("a FileIO class of Apache Iceberg is accepted only if Hadoop file systems can replace it") {
    Seq("hadoop.HadoopFileIO", "io.ResolvingFileIO", "aws.s3.S3FileIO").foreach { impl =>
      open("type" -> "hadoop", "io-impl" -> s"org.apache.iceberg.$impl")
    }
    val gcs = "org.apache.iceberg.gcp.gcs.GCSFileIO"
    Seq(gcs, "org.apache.iceberg.azure.adlsv2.ADLSFileIO", "com.example.IO").foreach {
      impl =>
        val message = intercept[Unsupported](open("type" -> "hadoop", "io-impl" -> impl)).getMessage
        assert(message.contains(s"io-impl=$impl in catalog lite") && message.contains("Remove this setting"))
    }
  }

  test("an unsupported or unknown catalog type is rejected, and the error contains the type or the supported types") {
    Seq("glue", "nessie", "bigquery").foreach { kind =>
      val message = intercept[Unsupported](open("type" -> kind)).getMessage
      assert(message.contains(kind) && message.contains("docs/catalogs/rest-servers.md"))
    }
    assert(
      intercept[Unsupported](open("catalog-impl" -> "org.apache.iceberg.aws.glue.GlueCatalog")).getMessage.contains(
        "docs/catalogs/rest-servers.md"
      )
    )
    assert(intercept[InvalidArgument](open("type" -> "hadopo")).getMessage.contains("It must be one of hadoop, jdbc"))
  }
}
