# Every night Cloud Scheduler launches the Flex Template of deploy/dataflow/build.sh, and a Cloud Run job publishes what it
# has found. docs/how-to/dataflow.md explains both. A job on Dataflow reads the whole corpus: --state works on one machine only.
#
#   terraform init && terraform apply -var project=my-project -var region=europe-west4 -var bucket=my-bucket -var image=IMAGE
#
# Checked: "terraform fmt" reads it, its arguments are those that the documentation of Google's provider has, and a test compares
# the parameters with those of the template. Not checked: "terraform validate", for which the provider could not be had. Nothing
# was applied.

terraform {
  required_providers {
    google = { source = "hashicorp/google" }
  }
}

variable "project" { type = string }
variable "region" { type = string }
variable "bucket" { type = string } # without gs://
variable "image" { type = string }  # of build.sh; the template is gs://BUCKET/templates/runjob.json

locals {
  bucket  = "gs://${var.bucket}"
  results = "${local.bucket}/results"
  rights = {
    "roles/dataflow.developer" = google_service_account.driver # launches the job, and asks how it does
    "roles/dataflow.worker"    = google_service_account.worker
  }
}

provider "google" {
  project = var.project
  region  = var.region
}

# The driver launches and publishes. The worker is the account of the machines.
resource "google_service_account" "driver" { account_id = "runjob-driver" }
resource "google_service_account" "worker" { account_id = "runjob-worker" }

resource "google_project_iam_member" "rights" {
  for_each = local.rights
  project  = var.project
  role     = each.key
  member   = each.value.member
}

# The template's launcher runs as the worker, and sends the job itself.
resource "google_project_iam_member" "launcher" {
  project = var.project
  role    = "roles/dataflow.developer"
  member  = google_service_account.worker.member
}

resource "google_storage_bucket_iam_member" "objects" {
  for_each = { driver = google_service_account.driver, worker = google_service_account.worker }
  bucket   = var.bucket
  role     = "roles/storage.objectUser"
  member   = each.value.member
}

resource "google_service_account_iam_member" "runs_as" {
  for_each           = { driver = google_service_account.driver, worker = google_service_account.worker }
  service_account_id = google_service_account.worker.name
  role               = "roles/iam.serviceAccountUser"
  member             = each.value.member
}

resource "google_cloud_scheduler_job" "launch" {
  name      = "near-duplicates-launch"
  schedule  = "0 2 * * *"
  time_zone = "Etc/UTC"

  http_target {
    http_method = "POST"
    uri         = "https://dataflow.googleapis.com/v1b3/projects/${var.project}/locations/${var.region}/flexTemplates:launch"
    headers     = { "Content-Type" = "application/json" }
    oauth_token { service_account_email = google_service_account.driver.email }
    body = base64encode(jsonencode({
      launchParameter = {
        jobName              = "near-duplicates"
        containerSpecGcsPath = "${local.bucket}/templates/runjob.json"
        parameters = {
          input     = "${local.bucket}/corpus"
          output    = local.results
          temp      = "${local.bucket}/runjob/temp"
          overwrite = "true"
          emit      = "clusters,removed"
        }
        environment = {
          maxWorkers          = 20
          machineType         = "n2-highmem-8"
          serviceAccountEmail = google_service_account.worker.email
          stagingLocation     = "${local.bucket}/runjob/staging"
          tempLocation        = "${local.bucket}/runjob/dataflow"
        }
      }
    }))
  }
}

# An hour later, when the job has long begun, "runjob finish" waits for its end and publishes the results.
resource "google_cloud_run_v2_job" "finish" {
  name                = "near-duplicates-finish"
  location            = var.region
  deletion_protection = false
  template {
    template {
      service_account = google_service_account.driver.email
      timeout         = "86400s"
      max_retries     = 0
      containers {
        image   = var.image
        command = ["/template/runjob"]
        args    = ["finish", local.results]
      }
    }
  }
}

resource "google_cloud_run_v2_job_iam_member" "finish" {
  name     = google_cloud_run_v2_job.finish.name
  location = var.region
  role     = "roles/run.invoker"
  member   = google_service_account.driver.member
}

resource "google_cloud_scheduler_job" "finish" {
  name      = "near-duplicates-finish"
  schedule  = "0 3 * * *"
  time_zone = "Etc/UTC"

  http_target {
    http_method = "POST"
    uri         = "https://run.googleapis.com/v2/${google_cloud_run_v2_job.finish.id}:run"
    oauth_token { service_account_email = google_service_account.driver.email }
  }
}
