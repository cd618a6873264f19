import com.eed3si9n.jarjarabrams.ShadeRule
import sbt._
import sbtassembly.AssemblyPlugin.autoImport.{ShadeRule => Shade}

object Dependencies {
  val sparkVersion = "3.5.9"

  /** Every library below comes with Spark 3.5 at this version, so none of them is bundled. */
  val jackson: Seq[ModuleID] = Seq("com.fasterxml.jackson.core" % "jackson-databind" % "2.15.2" % Provided)

  val formats: Seq[ModuleID] = jackson ++ Seq(
    "org.apache.avro" % "avro" % "1.11.5" % Provided,
    "org.apache.parquet" % "parquet-hadoop" % "1.13.1" % Provided,
    "org.apache.hadoop" % "hadoop-client-api" % "3.3.4" % Provided,
    "org.apache.hadoop" % "hadoop-client-runtime" % "3.3.4" % Provided,
    "org.apache.orc" % "orc-core" % "1.9.8" % Provided classifier "shaded-protobuf",
    "org.apache.hive" % "hive-storage-api" % "2.8.1" % Provided,
    "org.apache.datasketches" % "datasketches-java" % "3.3.0" % Provided,
    "org.roaringbitmap" % "RoaringBitmap" % "0.9.45" % Provided,
    "org.slf4j" % "slf4j-api" % "2.0.7" % Provided,
    "com.github.luben" % "zstd-jni" % "1.5.5-4" % Provided,
    "org.lz4" % "lz4-java" % "1.8.0" % Provided,
    "org.tukaani" % "xz" % "1.9" % Provided,
    "org.xerial" % "sqlite-jdbc" % "3.50.3.0" % Test
  )

  val sparkSql: Seq[ModuleID] = Seq(
    "org.apache.spark" %% "spark-sql" % sparkVersion % Provided,
    "org.apache.spark" %% "spark-hive" % sparkVersion % Test
  )

  val testing: Seq[ModuleID] = Seq(
    "org.scalatest" %% "scalatest" % "3.2.19" % Test,
    "org.scalacheck" %% "scalacheck" % "1.18.1" % Test,
    "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
  )

  /** The other implementation that judges our files in the tests: one jar, its libraries under names of its own. */
  val peer: ModuleID = "org.apache.iceberg" % "iceberg-spark-runtime-3.5_2.12" % "1.12.0"

  /** The same libraries where no Spark brings them. */
  def atRunTime(provided: Seq[ModuleID]): Seq[ModuleID] =
    provided.filter(_.configurations.contains("provided")).map(_.withConfigurations(None))

  /** What a bundled library would be moved under, were one added: nothing of it may meet Spark's own copy. */
  val shaded: Seq[ShadeRule] = Seq(
    Shade.rename("com.github.benmanes.**" -> "iceberglite.shaded.@0", "org.antlr.**" -> "iceberglite.shaded.@0").inAll
  )

  /** Spark on JDK 17 reaches into the JDK; Spark's own scripts set the same. */
  val openModules: Seq[String] = Seq(
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar"
  ).map(p => s"--add-opens=java.base/$p=ALL-UNNAMED")
}
